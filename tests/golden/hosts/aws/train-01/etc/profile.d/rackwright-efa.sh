#
# Ansible managed
#
case ":${PATH}:" in
  *:/opt/amazon/efa/bin:*) ;;
  *) export PATH="/opt/amazon/efa/bin:${PATH}" ;;
esac

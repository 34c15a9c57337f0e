"""Documentation of the action of the same name, which runs on the control machine."""

DOCUMENTATION = r"""
module: files
short_description: Files and folders of a host in one task
description:
  - Looks at all of them at once, and leaves what is right. What is not is made by Ansible's own
    C(template), C(copy) or C(file), with their checks and differences.
  - The task has changed something when one of them was changed.
options:
  files:
    description: The files and folders, made in this order.
    type: list
    elements: dict
    required: true
    suboptions:
      path:
        description: Where on the host.
        type: str
        required: true
      template:
        description: Template of the file, in the role's folder of templates.
        type: str
      copy:
        description: The file itself, in the role's folder of files or with its whole path.
        type: str
      state:
        description: A file needs a template, or what to copy; neither is looked at where it is to be absent.
        type: str
        choices: [file, directory, absent]
        default: file
      vars:
        description: Variables of its template.
        type: dict
      mode:
        description: Its rights, as in V(0644), where they are others than those of all.
        type: str
      owner:
        description: Its owner, where it is another than that of all.
        type: str
      group:
        description: Its group, where it is another than that of all.
        type: str
      validate:
        description: Command that checks a file before it is put there, with C(%s) for its path.
        type: str
  owner:
    description: Owner of all of them.
    type: str
  group:
    description: Group of all of them.
    type: str
  mode:
    description: Rights of all of them.
    type: str
author:
  - Rackwright
"""

EXAMPLES = r"""
- name: Write the folder of settings, and one of them
  rackwright.cluster.files:
    owner: root
    group: root
    files:
      - {path: /etc/atlas, state: directory, mode: "0755"}
      - {path: /etc/atlas/atlas.conf, template: atlas.conf.j2, mode: "0644"}
"""

RETURN = r"""
paths:
  description: Paths of those that were changed, or would be in check mode.
  type: list
  elements: str
  returned: always
"""

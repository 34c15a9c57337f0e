#!/bin/sh
# Put the files of a folder on a volume: place_folder.sh PATH VOLUME NAME
# What the volume has of it counts. What the host has is kept beside the folder, which is empty then.
# Cut off anywhere and begun again, it neither loses files nor takes a copy that is no longer true.
set -eu
path=$1 volume=$2 name=$3

filled() { test -d "$1" && test -n "$(ls -A "$1")"; }

put_aside() {
    if filled "$path"; then
        mv "$path" "$path.before-$(date -u +%Y%m%dT%H%M%SZ)"
        mkdir "$path"
    fi
}

mkdir -p "$path"
cd "$volume"
if filled "$name"; then
    put_aside
    exit 0
fi
# A whole copy is true only as long as nobody can have changed what it was made of.
if filled "$path" || ! test -d ".$name.whole"; then
    rm -rf ".$name.new" ".$name.whole"
    cp -a "$path" ".$name.new"
    sync -f .
    mv ".$name.new" ".$name.whole"
fi
put_aside
if test -d "$name"; then rmdir "$name"; fi
mv ".$name.whole" "$name"
sync -f .

hosts=$1 name=$2 slots=$3 keys=$4 port=$5
shift 5
mkdir -p /run/sshd "$HOME/.ssh"
cat >"$HOME/.ssh/config" <<END
Host *
  Port $port
  IdentityFile $keys/id_ed25519
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
END
chmod 600 "$HOME/.ssh/config"
serve() {
  /usr/sbin/sshd "$@" -e -p "$port" -o HostKey="$keys/id_ed25519" \
    -o AuthorizedKeysFile="$keys/id_ed25519.pub" -o StrictModes=no -o PidFile=none
}
if [ "$JOB_COMPLETION_INDEX" != 0 ]; then
  serve -D
  exit
fi
serve
index=0
while [ "$index" -lt "$hosts" ]; do
  host=$name-$index.$name
  until ssh "$host" true; do sleep 1; done
  echo "$host$slots"
  index=$((index + 1))
done >/tmp/hosts
exec "$@"

# Starts a server and ends it when asked to, or when storemark is gone, however that went.
# Arguments: the signal for a clean end, the one for a quick end, the log, the command.
# Standard input is storemark's: a line asks for a clean end, its end says that storemark is gone.
# The first line of standard output is the server's process id.
clean=$1 quick=$2 log=$3
shift 3
trap '' HUP INT
# Where memory runs out, the server is to be ended and not storemark.
{ echo 900 >/proc/self/oom_score_adj; } 2>/dev/null
exec 3<&0 </dev/null
"$@" 3<&- >>"$log" 2>&1 &
server=$!
echo "$server"
exec >/dev/null 2>&1
(
  if read -r _ <&3; then
    kill -s "$clean" "$server"
    patience=60
  else
    kill -s "$quick" "$server"
    patience=2
  fi
  # Short sleeps, since the last one outlives this shell.
  while [ "$patience" -gt 0 ]; do
    sleep 1
    patience=$((patience - 1))
  done
  kill -s KILL "$server"
) &
watcher=$!
exec 3<&-
wait "$server"
code=$?
kill -s KILL "$watcher"
exit "$code"

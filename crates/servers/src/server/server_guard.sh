# Starts a server and ends it when asked to, or as soon as storemark has ended, however it ended.
# Arguments: the signal for a clean end, the one for a quick end, the log, the command.
# Standard input comes from storemark: a line asks for a clean end; its end means that storemark is
# gone. The first line of standard output is the server's process id.
clean=$1 quick=$2 log=$3
shift 3
trap '' HUP INT
# If memory runs out, the system should end the server and not storemark, whose own pages count as much.
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
exec 3<&0 </dev/null
# Only this start is of interest.
: >"$log"
"$@" 3<&- >>"$log" 2>&1 &
server=$!
# Storemark may be gone already; without this the line would end the guard and leave the server.
trap '' PIPE
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
  # Ends the sleep with this shell, and waits for it: where process 1 does not wait for its children, one
  # that nobody waited for would stay.
  trap 'kill -s KILL "$nap"; wait; exit' USR1
  while [ "$patience" -gt 0 ]; do
    sleep 1 &
    nap=$!
    wait "$nap"
    patience=$((patience - 1))
  done
  kill -s KILL "$server"
) &
watcher=$!
exec 3<&-
wait "$server"
code=$?
kill -s USR1 "$watcher"
wait "$watcher"
exit "$code"

/** Where a shell meets the agent; all paths are secret to this one shell. */
export interface ChannelPaths {
  /** FIFO on which the shell reports: NUL-terminated records. */
  reports: string;
  /** FIFO on which the shell reads orders: lines. */
  orders: string;
  /** Folder of the command files, named by their id. */
  commands: string;
  /** Begins the escape sequence that says where in the output a command ended. */
  mark: string;
}

/** Typed at a prompt, it brings the shell back to its loop. */
export const comeBack = '__belay';

/**
 * The start-up file of a persistent shell, for bash and for POSIX shells such as busybox ash.
 *
 * The shell waits inside a loop for orders instead of showing its prompt: nothing is typed, so nothing is echoed, and
 * no prompt is read. Each turn reports `ready NONCE STATUS DIRECTORY`; an order that answers an older nonce is stale
 * and dropped, so a Ctrl-C between report and order neither loses nor repeats a command. Commands are evaluated at top
 * level (in a function `declare` would not last), with the `$?` that the command before left. All paths are literals:
 * no command can break the channel by unsetting a variable. `bash` enters the loop before each prompt; other shells
 * are typed `__belay` when the prompt reports itself, with mark 0 before the prompt.
 */
export function shellScript(kind: 'bash' | 'sh', paths: ChannelPaths, number: number): string {
  const { reports, orders, commands, mark } = paths;
  return `unset ENV
__belay_carry() {
  command ulimit -S -x "$1" || command ulimit -S -w "$1" || command ulimit -S -L "$1"
} 2>/dev/null
__belay_carry ${number}
__belay_status=0
__belay_next() {
  case $- in *x*) set +x; __belay_trace=1 ;; *) __belay_trace= ;; esac
  __belay_nonce=$(( \${__belay_nonce:-0} + 1 ))
  __belay_verb=
  command printf '${mark}%s\\007' "$__belay_nonce" >/dev/tty
  command printf 'ready %s %s %s\\000' "$__belay_nonce" "$1" "\${PWD-}" >${quote(reports)} || exit 125
  while IFS=' ' read -r __belay_verb __belay_answers __belay_id; do
    [ "$__belay_answers" = "$__belay_nonce" ] && break
  done <${quote(orders)}
  case $__belay_verb in
    run)
      . ${quote(commands)}/"$__belay_id"
      __belay_carry "$__belay_id"
      command printf 'begin %s\\000' "$__belay_id" >${quote(reports)}
      ;;
    release) __belay_carry ${number}; __belay_source='break 2' ;;
    *) exit 125 ;;
  esac
  __belay_status=0
  [ -z "$__belay_trace" ] || set -x
  return "$1"
}
trap 'command printf "left %s\\000" "\${PWD-}" >${quote(reports).replaceAll("'", '"')}' EXIT
__belay_prompted() {
  command printf '${mark}0\\007' >/dev/tty
  command printf 'prompt\\000' >${quote(reports)}
}
__belay_loop=${quote(loop)}
alias ${comeBack}='eval "$__belay_loop"'
${kind === 'bash' ? bashOnly : posixOnly}`;
}

// Two loops, so that a stray `break` of a command ends the inner one only. Both branches are the same: which one is
// taken keeps `$?`, and a condition is exempt from `set -e`.
const loop = `__belay_status=$?
while { :; } 2>/dev/null; do
while { :; } 2>/dev/null; do
if { __belay_next "\${__belay_status:-0}"; } 2>/dev/null; then eval "$__belay_source"; else eval "$__belay_source"; fi
{ __belay_status=$?; } 2>/dev/null
done
done`;

const bashOnly = `[ -r ~/.bashrc ] && . ~/.bashrc
shopt -s checkwinsize
unset HISTFILE
PROMPT_COMMAND=$__belay_loop
PS1='\\[$(__belay_prompted)\\e[36m\\]\\w\\[\\e[0m\\] $ '
`;

const posixOnly = `PS1='$(__belay_prompted)\${PWD-} $ '
`;

/** A word of shell source that stands for exactly this text. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

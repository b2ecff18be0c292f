import { shellQuoted } from '@belay/protocol';

export type ShellKind = 'bash' | 'sh';

/** The files between a shell and the agent; all paths are secret to this shell. */
export interface ChannelPaths {
  /** FIFO on which the shell reports: NUL-terminated records. */
  reports: string;
  /** FIFO on which the shell reads orders: lines. */
  orders: string;
  /** FIFO on which the subshells of background commands wait: lines with their id. */
  releases: string;
  /** Folder of the command files, named by their id. */
  commands: string;
  /** The start of the escape sequence that marks a command’s end in the output. */
  mark: string;
}

export interface ShellStart {
  /** The number of its processes while it runs no command of the agent; see `processesOf`. */
  number: number;
  /** Whether to skip its user’s start-up file. */
  plain: boolean;
}

/** Typing this at a prompt returns the shell to its loop. */
export const comeBack = '__belay';

/**
 * The start-up file of a persistent shell, for bash and for POSIX shells such as busybox ash.
 *
 * The shell waits inside a loop for orders instead of showing its prompt: nothing is typed, so nothing is echoed, and
 * no prompt is read. Each iteration reports `ready NONCE STATUS DIRECTORY`; an order with an older nonce is stale
 * and dropped, so a Ctrl-C between report and order neither loses nor repeats a command. Commands are evaluated at top
 * level (in a function `declare` would not last), with the `$?` that the command before left. All paths are literals:
 * no command can break the channel by unsetting a variable. `bash` enters the loop before each prompt; other shells
 * are typed `__belay` when the prompt reports itself, with mark 0 before the prompt.
 *
 * A background command runs in a subshell of a subshell. The outer one ignores the signals that ask to end, so that it
 * reports the exit code of the inner one whatever ends that, and waits until the agent has it; see `BackgroundEnd`.
 */
export function shellScript(
  kind: ShellKind,
  paths: ChannelPaths,
  { number, plain }: ShellStart,
): string {
  const { reports, orders, releases, commands, mark } = paths;
  // Passes by functions and aliases that commands define under the names of builtins. Of POSIX shells only `command`
  // can be expected, so there a function of that very name still stops the loop, until the command is killed.
  const own = kind === 'bash' ? '\\builtin' : '\\command';
  return `unset ENV
__belay_tag() {
  ${own} ulimit -S -x "$1" || ${own} ulimit -S -w "$1" || ${own} ulimit -S -L "$1"
} 2>/dev/null
__belay_tag ${number}
__belay_status=0
__belay_next() {
  ${own} set -- "$1" "$-"
  ${own} set +x +a
  ${own} unset __belay_status __belay_source
  __belay_nonce=$(( \${__belay_nonce:-0} + 1 ))
  __belay_verb=
  ${own} printf '${mark}%s\\007' "$__belay_nonce" >/dev/tty
  ${own} printf 'ready %s %s %s\\000' "$__belay_nonce" "$1" "\${PWD-}" >${shellQuoted(reports)} || ${own} exit 125
  while IFS=' ' ${own} read -r __belay_verb __belay_answers __belay_id; do
    case $__belay_answers in "$__belay_nonce") ${own} break ;; esac
  done <${shellQuoted(orders)}
  case $__belay_verb in
    run)
      ${own} . ${shellQuoted(commands)}/"$__belay_id"
      __belay_tag "$__belay_id"
      ${own} printf 'begin %s\\000' "$__belay_id" >${shellQuoted(reports)}
      ;;
    release) __belay_tag ${number}; __belay_source='${own} break 2' ;;
  esac
  __belay_status=0
  case $2 in *a*) ${own} set -a ;; esac
  case $2 in *x*) ${own} set -x ;; esac
  ${own} return "$1"
}
__belay_outside() {
  __belay_flags=$-
  ${own} set +ex
  ${own} trap : HUP INT QUIT TERM
}
__belay_inside() {
  case $__belay_flags in *e*) ${own} set -e ;; esac
  case $__belay_flags in *x*) ${own} set -x ;; esac
  ${own} unset __belay_flags
}
__belay_ended() {
  ${own} set -- "$1" "$?"
  ${own} printf 'ended %s %s\\000' "$1" "$2" >${shellQuoted(reports)} || ${own} exit "$2"
  while ${own} read -r __belay_id; do
    case $__belay_id in "$1") ${own} break ;; esac
  done <${shellQuoted(releases)}
  ${own} exit "$2"
}
trap '${own} printf "left %s\\000" "\${PWD-}" >${shellQuoted(reports).replaceAll("'", '"')}' EXIT
__belay_prompted() {
  ${own} printf '${mark}0\\007' >/dev/tty
  ${own} printf 'prompt\\000' >${shellQuoted(reports)}
}
__belay_loop=${shellQuoted(`${kind === 'bash' ? bashStatus : '__belay_status=$?'}\n${loop(own)}`)}
alias ${comeBack}='${own} eval "$__belay_loop"'
${kind === 'bash' ? bashOnly(plain) : posixOnly}`;
}

// Two loops, so that a stray `break` of a command ends the inner one only. Both branches are the same: which one is
// taken keeps `$?`, and a condition is exempt from `set -e`.
// Whoever took away what the loop needs ends the shell, and never repeats a command.
const loop = (own: string) => `while { ${own} :; } 2>/dev/null; do
while { ${own} :; } 2>/dev/null; do
if { __belay_next "\${__belay_status:-0}"; } 2>/dev/null; then ${own} eval "\${__belay_source-${own} exit 125}"; else ${own} eval "\${__belay_source-${own} exit 125}"; fi
{ __belay_status=$?; ${own} unset __belay_source; } 2>/dev/null
done
done`;

// Bash leaves its loops when a program in them is stopped (Ctrl-Z), and forgets the exit code that shows it.
const bashStatus = `__belay_status=$?
case \${__belay_nonce-}:$__belay_status in
  ?*:0) case $(\\builtin jobs -s %+ 2>/dev/null) in ?*) __belay_status=148 ;; esac ;;
esac`;

const bashOnly = (
  plain: boolean,
) => `readonly -f __belay_tag __belay_next __belay_prompted __belay_outside __belay_inside __belay_ended
${plain ? '' : '[ -r ~/.bashrc ] && . ~/.bashrc'}
shopt -s checkwinsize
unset HISTFILE
PROMPT_COMMAND=$__belay_loop
PS1='\\[$(__belay_prompted)\\e[36m\\]\\w\\[\\e[0m\\] $ '
`;

const posixOnly = `PS1='$(__belay_prompted)\${PWD-} $ '
`;

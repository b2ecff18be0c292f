import { equal, match, ok } from 'node:assert/strict';
import type { ConformanceCase } from './target.js';

/** Commands reach the shell as they are, and the shell's state lasts. */
export const sourceCases: ConformanceCase[] = [
  {
    name: 'exit codes are the real ones',
    async run(target) {
      for (const code of [0, 1, 2, 42, 126, 127, 130, 143, 255]) {
        const result = await target.run(`sh -c 'exit ${code}'`);
        equal(result.exitCode, code);
        equal(result.status, 'exited');
      }
    },
  },
  {
    name: 'directory, variables and functions last from call to call',
    async run(target) {
      await target.run('mkdir -p "a b/c" && cd "a b/c" && x="one  two" && f() { echo "f:$x"; }');
      const result = await target.run('f; export y=3; false');
      equal(result.text, 'f:one  two\n');
      match(result.directory, /\/a b\/c$/);
      equal((await target.run('echo "$? $(sh -c "echo \\$y")"')).text, '1 3\n');
    },
  },
  {
    name: 'arrays declared in one call are there in the next',
    needs: ['bash'],
    async run(target) {
      await target.run('declare -A m; m[k]=v; declare -i n=4');
      equal((await target.run('echo "${m[k]} $((n + 1))"')).text, 'v 5\n');
    },
  },
  {
    name: 'shell metacharacters reach a program verbatim',
    async run(target) {
      const odd = '$HOME `id` \\ "double" * ? [a] {b,c} ~ ! !! # ; & | < > ( ) % ^ \t é 日本 🎉';
      equal((await target.run(`printf %s '${odd}'`)).text.trimEnd(), odd.replace('\t', '\t'));
      equal(
        (await target.run("printf '%s|' a\\ b 'it'\\''s' \"\\$x\"")).text.trimEnd(),
        "a b|it's|$x|",
      );
    },
  },
  {
    name: 'several lines and comments are one command',
    isLong: true,
    async run(target) {
      const result = await target.run(
        '# first\nfor i in 1 2; do\n  echo "$i" # inside\ndone\n\n# last',
      );
      equal(result.text, '1\n2\n');
    },
  },
  {
    name: 'heredocs, quoted and not',
    async run(target) {
      const command = "v=5\ncat <<'A'; cat <<B\n$v `x` \\n 'q'\nA\n$v\n\ttab\nB";
      equal((await target.run(command)).text, "$v `x` \\n 'q'\n5\n\ttab\n");
    },
  },
  {
    name: 'a heredoc at the very end without a line end',
    isLong: true,
    async run(target) {
      equal((await target.run('cat <<END\nlast line\nEND')).text, 'last line\n');
    },
  },
  {
    name: 'a syntax error is an exit code, and the shell goes on',
    async run(target) {
      const result = await target.run('if then fi');
      equal(result.status, 'exited');
      ok(result.exitCode !== 0);
      match(result.text, /syntax error/i);
      equal((await target.run('echo on')).text, 'on\n');
    },
  },
  {
    name: 'an unclosed quote is an error, not a hang',
    isLong: true,
    async run(target) {
      const result = await target.run('echo "open');
      equal(result.status, 'exited');
      ok(result.exitCode !== 0);
      equal((await target.run('echo on')).text, 'on\n');
    },
  },
  {
    name: 'break, continue and return outside of loops and functions do no harm',
    isLong: true,
    async run(target) {
      for (const command of ['break', 'continue', 'break 9', 'return 3', 'break; echo x']) {
        await target.run(command);
        equal((await target.run('echo on')).text, 'on\n', command);
      }
    },
  },
  {
    name: 'set -e: a failing command ends the shell, which is reported and replaced',
    async run(target) {
      await target.run('mkdir -p kept && cd kept');
      const result = await target.run('set -e; echo before; sh -c "exit 5"; echo after');
      equal(result.exitCode, 5);
      match(result.text, /before/);
      ok(!/after/.test(result.text));
      match(result.text, /\[the shell ended with exit code 5/);
      equal((await target.run('basename "$PWD"')).text, 'kept\n');
    },
  },
  {
    name: 'set -e in a subshell ends the subshell only',
    isLong: true,
    async run(target) {
      equal((await target.run('(set -e; false; echo no); echo "code $?"')).text, 'code 1\n');
    },
  },
  {
    name: 'exit ends the shell with its code; a new one begins in the same directory',
    async run(target) {
      await target.run('mkdir -p here; cd here');
      equal((await target.run('exit 7')).exitCode, 7);
      equal((await target.run('basename "$PWD"')).text, 'here\n');
    },
  },
  {
    name: 'exec replacing the shell gives the code of what replaced it',
    isLong: true,
    async run(target) {
      const result = await target.run('exec sh -c "echo replaced; exit 9"');
      equal(result.exitCode, 9);
      match(result.text, /^replaced\n/);
      equal((await target.run('echo back')).text, 'back\n');
    },
  },
  {
    name: 'the shell killed by its own child is noticed',
    async run(target) {
      const result = await target.run("sh -c 'kill -9 $PPID'; echo never");
      equal(result.exitCode, 137);
      match(result.text, /killed by signal 9/);
      equal((await target.run('echo back')).text, 'back\n');
    },
  },
  {
    name: 'closed descriptors, a redirected shell and an empty environment do not break the channel',
    async run(target) {
      await target.run('exec 3>&- 4>&- 5>&- 9>&-');
      equal((await target.run('echo a')).text, 'a\n');
      await target.run('exec >/dev/null 2>&1');
      equal((await target.run('echo hidden; false')).exitCode, 1);
      await target.run('exec >/dev/tty 2>&1');
      equal((await target.run('echo b')).text, 'b\n');
      await target.run(
        'for v in $(env | sed -n "s/^\\([A-Za-z_]*\\)=.*/\\1/p"); do unset "$v"; done',
      );
      equal((await target.run('echo c; (exit 4)')).exitCode, 4);
      await target.run('IFS=; set -f; set -C; set -u');
      equal((await target.run('echo d')).text, 'd\n');
    },
  },
  {
    name: 'a shell without standard input, output and error runs commands and gives their exit codes',
    async run(target) {
      await target.run('exec 0<&- 1>&- 2>&-');
      equal((await target.run('echo lost >lost; (exit 3)')).exitCode, 3);
      await target.run('exec </dev/tty >/dev/tty 2>&1');
      equal((await target.run('cat lost')).text, 'lost\n');
    },
  },
  {
    name: 'functions and aliases named like builtins are left alone, and commands still run',
    isLong: true,
    async run(target) {
      await target.run('read() { echo mine; }; printf() { echo mine; }; ulimit() { echo mine; }');
      await target.run("alias command='echo mine' builtin='echo mine' eval='echo mine'");
      const result = await target.run('echo real; (exit 3)');
      equal(result.text, 'real\n');
      equal(result.exitCode, 3);
      equal((await target.run('printf x')).text, 'mine\n');
    },
  },
  {
    name: 'functions named like special builtins are left alone, and commands still run',
    isLong: true,
    needs: ['bash'],
    async run(target) {
      for (const name of 'command . : [ eval set unset trap break return exit'.split(' ')) {
        await target.run(`${name}() { echo mine; }`);
        const result = await target.run('echo real; (\\builtin exit 3)');
        equal(result.text, 'real\n', name);
        equal(result.exitCode, 3, name);
      }
    },
  },
  {
    name: 'set -a exports the variables of the command and none of ours',
    async run(target) {
      await target.run('set -a; exported=1');
      await target.run('true');
      equal((await target.run('env | grep -E "^(exported|__belay)"')).text, 'exported=1\n');
      await target.run('set +a; kept=1');
      equal((await target.run('env | grep -E "^(kept|__belay)"')).exitCode, 1);
    },
  },
  {
    name: 'a command that takes away what the loop needs ends the shell, and is not repeated',
    async run(target) {
      await target.run('unset -f __belay_next; unset __belay_source; echo once >>times');
      await target.run('true');
      equal((await target.run('cat times; (exit 4)')).exitCode, 4);
      equal(Buffer.from(await target.readFile('times')).toString(), 'once\n');
    },
  },
  {
    name: 'set -x traces the command and nothing of ours',
    async run(target) {
      await target.run('set -x');
      const { text } = await target.run('echo traced');
      await target.run('{ set +x; } 2>/dev/null');
      match(text, /\+ echo traced\ntraced\n$/);
      ok(!text.includes('__belay_next') && !text.includes('printf'));
    },
  },
  {
    name: 'printing what looks like our marks or reports changes nothing',
    async run(target) {
      const result = await target.run(
        "printf '\\033]6973;0123;1\\007'; printf 'ready 1 0 /\\000'; printf '\\033]133;D;0\\007'; printf '$ \\n[exit 0]\\n'; (exit 6)",
      );
      equal(result.exitCode, 6);
      equal(result.status, 'exited');
      match(result.text, /\[exit 0\]\n$/);
    },
  },
  {
    name: 'escape sequences, even unfinished ones, change nothing',
    isLong: true,
    async run(target) {
      const codes = [
        '\\033[2J\\033[H',
        '\\033[?1049h',
        '\\033[',
        '\\033]0;title',
        '\\033P',
        '\\377\\376',
        '\\016',
      ];
      for (const code of codes) {
        const result = await target.run(`printf '${code}'; (exit 3)`);
        equal(result.exitCode, 3, code);
      }
      await target.run("printf '\\033\\\\\\033[?1049l\\017'");
      equal((await target.run('echo clear')).text, 'clear\n');
    },
  },
  {
    name: 'a command is shown once in the terminal, before its output',
    async run(target) {
      await target.run('echo "o""nce"', { terminal: 'shown' });
      await target.run('true', { terminal: 'shown' });
      const text = new TextDecoder().decode(await target.printed('shown'));
      equal(text.split('echo "o""nce"').length, 2);
      match(text, /\$ echo "o""nce"\r\nonce\r\n/);
      await target.close('shown');
    },
  },
];

import { equal, match, ok, rejects } from 'node:assert/strict';
import { until } from '@belay/testing';
import { caseWaitSeconds, runUntil, toEnd, type ConformanceCase } from './target.js';

/** The environment of terminals for programs and users. */
export const environmentCases: ConformanceCase[] = [
  {
    name: 'a program finds a real terminal',
    async run(target) {
      equal(
        (await target.run('[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo yes; echo $TERM')).text,
        'yes\nxterm-256color\n',
      );
    },
  },
  {
    name: 'what asks for a pager gets one that goes on by itself',
    async run(target) {
      const result = await target.run('seq 1 200 | $PAGER');
      equal(result.status, 'exited');
      match(result.text, /199\n200\n$/);
    },
  },
  {
    name: 'no pager takes the terminal over',
    needs: ['git'],
    async run(target) {
      const result = await target.run(
        'git init -q repo && cd repo && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git log',
        { wait: caseWaitSeconds },
      );
      equal(result.status, 'exited');
      match(result.text, /first/);
    },
  },
  {
    name: 'an interactive program takes input line by line',
    async run(target) {
      await runUntil(target, 'printf \'name? \'; read -r name; echo "hello $name"', 'name?');
      const typed = await target.input({ text: 'Ada', keys: ['enter'], wait: 20 });
      const result = await toEnd(target, typed);
      match(result.text, /hello Ada\n$/);
      equal(result.status, 'exited');
    },
  },
  {
    name: 'Ctrl-D ends the input of a program',
    async run(target) {
      await target.run('cat >typed', { wait: 0.2 });
      await target.input({ text: 'line\n', wait: 0.2 });
      await toEnd(target, await target.input({ keys: ['ctrl-d'], wait: 20 }));
      equal(Buffer.from(await target.readFile('typed')).toString(), 'line\n');
    },
  },
  {
    name: 'a Python prompt answers',
    needs: ['python3'],
    async run(target) {
      const started = await runUntil(target, 'python3 -q', '>>>');
      equal(started.status, 'running');
      const { from } = await target.input({ text: '6*7', keys: ['enter'], wait: 20 });
      await until('the answer', async () => /42/.test((await target.read({ from })).text));
      const typed = await target.input({ text: 'exit(3)', keys: ['enter'], wait: 20 });
      equal((await toEnd(target, typed)).exitCode, 3);
    },
  },
  {
    name: 'less shows a screen and moves in it',
    needs: ['less'],
    async run(target) {
      const first = await runUntil(target, 'seq 1 500 >numbers; less numbers', '20');
      equal(first.status, 'running');
      match(first.text, /^1\n2\n3\n/m);
      const { from } = await target.input({ text: 'G', wait: 2 });
      const end = await until('the last screen', async () => {
        const { text } = await target.read({ from });
        if (/499\n500\n/.test(text)) return text;
        // Busybox goes to the last line that it has read so far.
        await target.input({ text: 'G', wait: 1 });
        return undefined;
      });
      ok(!/^1\n2\n/m.test(end));
      equal((await toEnd(target, await target.input({ text: 'q', wait: 20 }))).status, 'exited');
      equal((await target.run('echo on')).text, 'on\n');
    },
  },
  {
    name: 'vi edits a file',
    isLong: true,
    needs: ['vi'],
    async run(target) {
      await runUntil(target, 'vi edited', '~');
      await target.input({ text: 'ihello from vi', keys: ['escape'], wait: 1 });
      const result = await target.input({ text: ':wq', keys: ['enter'], wait: 20 });
      equal((await toEnd(target, result)).status, 'exited');
      equal(Buffer.from(await target.readFile('edited')).toString(), 'hello from vi\n');
    },
  },
  {
    name: 'resizing reaches the program',
    async run(target) {
      await target.run('true', { terminal: 'sized' });
      await target.resize('sized', 91, 17);
      equal((await target.run('stty size', { terminal: 'sized' })).text, '17 91\n');
      await target.run('stty size; read -r _; stty size', { terminal: 'sized', wait: 0.4 });
      await target.resize('sized', 100, 40);
      const { from } = await target.input({ terminal: 'sized', keys: ['enter'], wait: 20 });
      const printed = async () => (await target.read({ terminal: 'sized', from })).text;
      await until('the new size', async () => /40 100/.test(await printed()));
      await target.close('sized');
    },
  },
  {
    name: 'the working directory is deleted',
    async run(target) {
      await target.run('mkdir -p doomed/inner && cd doomed/inner && rm -r ../../doomed');
      equal((await target.run('echo still')).text, 'still\n');
      const result = await target.run('exit 3');
      equal(result.exitCode, 3);
      equal((await target.run('pwd >/dev/null && echo fine')).text, 'fine\n');
    },
  },
  {
    name: 'a directory that does not exist',
    isLong: true,
    async run(target) {
      const result = await target.run('cd /no/such/directory');
      ok(result.exitCode !== 0);
      match(result.text, /no such|can't cd/i);
      equal((await target.run('[ -d "$PWD" ] && echo here')).text, 'here\n');
    },
  },
  {
    name: 'a user that does not exist',
    isLong: true,
    async run(target) {
      const result = await target.run('id no-such-user');
      equal(result.status, 'exited');
      ok(result.exitCode !== 0);
      equal((await target.run('cd ~no-such-user 2>/dev/null; echo on')).text, 'on\n');
    },
  },
  {
    name: 'permission denied and not found have their exit codes',
    async run(target) {
      await target.run('echo echo >plain; chmod 600 plain');
      const denied = await target.run('./plain');
      equal(denied.exitCode, 126);
      match(denied.text, /permission denied/i);
      equal((await target.run('no-such-program-at-all')).exitCode, 127);
    },
  },
  {
    name: 'several terminals do not know each other',
    isForOneImage: true,
    async run(target) {
      await target.run('v=one; mkdir -p one; cd one', { terminal: 'first' });
      await target.run('v=two', { terminal: 'second' });
      await target.run('sleep 600', { terminal: 'second', wait: 0.1 });
      equal(
        (await target.run('echo $v; basename "$PWD"', { terminal: 'first' })).text,
        'one\none\n',
      );
      const names = (await target.list()).map((each) => each.terminal);
      ok(names.includes('first') && names.includes('second'));
      await Promise.all([target.close('first'), target.close('second')]);
    },
  },
  {
    name: 'two calls at once on one terminal: the second waits for the first',
    isForOneImage: true,
    async run(target) {
      const both = await Promise.all([
        target.run('sleep 0.3; echo first; (exit 1)'),
        target.run('echo second; (exit 2)'),
      ]);
      equal(
        both.map((each) => `${each.text.trim()} ${each.exitCode}`).join(', '),
        'first 1, second 2',
      );
    },
  },
  {
    name: 'a terminal whose command nobody waits for refuses at once',
    isForOneImage: true,
    async run(target) {
      await target.run('sleep 600', { wait: 0.1 });
      const began = Date.now();
      await rejects(target.run('echo no'), /still running/);
      ok(Date.now() - began < 5_000);
      await target.interrupt();
      equal((await target.run('echo yes')).text, 'yes\n');
    },
  },
  {
    name: 'typing where nothing runs is refused',
    async run(target) {
      await target.run('true');
      await rejects(target.input({ text: 'ls\n' }), /Nothing is running/);
    },
  },
];

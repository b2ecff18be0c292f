import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { until } from '@belay/testing';
import {
  living,
  pidsIn,
  pidsOf,
  runUntil,
  toEnd,
  type ConformanceCase,
  type ConformanceTarget,
} from './target.js';

/** Writes a shell script; `$F` in it is the file for process ids. */
async function script(target: ConformanceTarget, name: string, lines: string): Promise<void> {
  await target.writeFile(name, Buffer.from(`F=${name}.pids; : >$F\n${lines}\n`));
}

/** Shell source that starts a process without environment, session and parents. */
const daemon = `env -i PATH="$PATH" setsid sh -c 'sh -c "echo \\$\\$ >>'$F'; exec sleep 600" & exit 0'`;

async function nobodyLeft(target: ConformanceTarget, name: string, atLeast: number): Promise<void> {
  const pids = await pidsIn(target, `${name}.pids`);
  ok(pids.length >= atLeast, `${name} started ${pids.length} processes`);
  await until(`the processes of ${name} are gone`, async () => {
    return (await living(target, pids)).length === 0;
  });
}

/** Runs a script until its timeout has ended all that it starts; on a busy machine it gets more time for its start. */
async function timeOut(
  target: ConformanceTarget,
  { name, run, starts }: { name: string; run: string; starts: number },
): Promise<void> {
  for (const timeout of [1, 4, 16]) {
    equal((await target.run(run, { timeout, wait: 60 })).status, 'timeout');
    if ((await pidsIn(target, `${name}.pids`)).length >= starts) break;
  }
  await nobodyLeft(target, name, starts);
}

/** Everything that was started ends when it should, and not before. */
export const endingCases: ConformanceCase[] = [
  {
    name: 'exit code 143 is not a timeout',
    async run(target) {
      for (const command of ['sh -c "kill -TERM \\$\\$"', '(exit 143)']) {
        const result = await target.run(command, { timeout: 30 });
        equal(result.exitCode, 143);
        equal(result.status, 'exited');
      }
      equal((await target.run('(exit 124)', { timeout: 30 })).status, 'exited');
    },
  },
  {
    name: 'after `wait` the answer is `running` with what is there; it goes on and can be read',
    async run(target) {
      const command = 'printf one; until [ -e go ]; do sleep 0.02; done; echo; echo two; (exit 4)';
      const first = await target.run(command, { wait: 0.4 });
      equal(first.status, 'running');
      equal(first.exitCode, null);
      // A busy machine may print it later.
      const { text } = first.text ? first : await target.read({ until: { text: 'one' }, wait: 30 });
      equal(text, 'one');
      await target.writeFile('go', new Uint8Array());
      const second = await target.read({ wait: 30 });
      equal(second.text, '\ntwo\n');
      equal(second.exitCode, 4);
      equal(second.status, 'exited');
    },
  },
  {
    name: 'a timeout answers so and leaves the shell as it was',
    async run(target) {
      await target.run('mkdir -p stays; cd stays; v=7');
      let text = '';
      for (const timeout of [0.5, 4, 16]) {
        const result = await target.run('echo begun; sleep 600', { timeout, wait: 60 });
        equal(result.status, 'timeout');
        equal(result.exitCode, null);
        ({ text } = result);
        if (text.startsWith('begun')) break;
      }
      match(text, /^begun\n/);
      equal((await target.run('echo $v; basename "$PWD"')).text, '7\nstays\n');
    },
  },
  {
    name: 'a timeout ends loops of the shell itself',
    isLong: true,
    async run(target) {
      for (const loop of [
        'while :; do :; done',
        'while :; do sleep 0.05; done',
        'for i in 1 2 3 4 5 6 7 8 9; do sleep 5; done',
      ]) {
        equal((await target.run(loop, { timeout: 0.4 })).status, 'timeout', loop);
        equal((await target.run('echo on')).text, 'on\n');
      }
    },
  },
  {
    name: 'a timeout kills the whole tree, whatever it did to get away',
    async run(target) {
      await script(
        target,
        'tree',
        `
sh -c 'echo $$ >>'$F'; trap "" TERM INT HUP; while :; do sleep 1; done' &
setsid sh -c 'echo $$ >>'$F'; exec sleep 600' &
sh -c 'setsid sh -c "echo \\$\\$ >>'$F'; exec sleep 600" & exit 0'
(trap '' HUP; exec sh -c 'echo $$ >>'$F'; exec sleep 600' >/dev/null 2>&1) &
env -i PATH="$PATH" sh -c 'echo $$ >>'$F'; exec sleep 600' &
(sh -c 'echo $PPID >>'$F; while :; do sleep 1; done) &
((sh -c 'echo $PPID >>'$F; while :; do sleep 1; done) & )
sh -c 'echo $$ >>'$F'; kill -STOP $$; sleep 600' &
sh -c 'echo $$ >>'$F'; exec sleep 600' | cat | cat
`,
      );
      await timeOut(target, { name: 'tree', run: '. ./tree', starts: 9 });
    },
  },
  {
    name: 'a timeout kills what dropped its environment, its session and its parents at once',
    isLong: true,
    async run(target) {
      await script(target, 'bare', `${daemon}\n(${daemon}) &\nsleep 600`);
      await timeOut(target, { name: 'bare', run: '. ./bare', starts: 2 });
    },
  },
  {
    name: 'a timeout spares what other commands started, also when it starts meanwhile',
    async run(target) {
      // Each prints that it is there, and starts another one once the command with the timeout runs.
      const job = `${daemon}; until [ -e begun ]; do sleep 0.02; done; ${daemon}; sleep 600`;
      for (const name of ['other', 'behind', 'earlier']) await script(target, name, job);
      await target.run('. ./other', { terminal: 'second', wait: 0.1 });
      await target.run('. ./behind', { background: true });
      await target.run('(. ./earlier) &');
      await script(target, 'late', `${daemon}; touch begun; sleep 600`);
      await timeOut(target, { name: 'late', run: '. ./late', starts: 1 });
      for (const name of ['other', 'behind', 'earlier']) {
        const pids = await pidsOf(target, `${name}.pids`, 2);
        deepEqual(await living(target, pids), pids, name);
      }
      await Promise.all(['second', 'main'].map((terminal) => target.close(terminal)));
      for (const name of ['other', 'behind', 'earlier']) await nobodyLeft(target, name, 2);
    },
  },
  {
    name: 'children that start during the timeout of SIGTERM are killed too',
    isLong: true,
    async run(target) {
      await script(
        target,
        'late',
        `
cat >late-child <<'END'
echo $$ >>late.pids
trap '' TERM
sleep 600 &
echo $! >>late.pids
wait
END
sh -c 'echo $$ >>'$F'; trap "sh ./late-child & setsid sh ./late-child &" TERM; while :; do sleep 0.1; done'
`,
      );
      // Itself, and what it starts when it is asked to end.
      await timeOut(target, { name: 'late', run: 'sh ./late', starts: 3 });
    },
  },
  {
    name: 'a timeout ends what the shell itself ignores: interrupts, and going on after it was stopped',
    isLong: true,
    async run(target) {
      await target.run("trap '' INT TERM HUP");
      equal((await target.run('sleep 600', { timeout: 0.3, wait: 60 })).status, 'timeout');
      equal((await target.run('while :; do :; done', { timeout: 0.3 })).status, 'timeout');
      equal((await target.run('kill -STOP $$', { timeout: 0.3 })).status, 'timeout');
      equal((await target.run('echo on')).text, 'on\n');
    },
  },
  {
    name: 'a program that is killed leaves a terminal in raw mode, and the next command runs',
    async run(target) {
      await target.run('stty raw -echo; sleep 600', { timeout: 0.5, wait: 60 });
      equal((await target.run('echo on; (exit 3)')).exitCode, 3);
    },
  },
  {
    name: 'Ctrl-Z stops a program, which stays a job',
    async run(target) {
      await runUntil(target, 'sh -c "echo begun; exec sleep 600"', 'begun');
      const result = await toEnd(target, await target.input({ keys: ['ctrl-z'], wait: 30 }));
      equal(result.status, 'exited');
      equal(result.exitCode, 148);
      match((await target.run('jobs')).text, /Stopped.*sleep 600/);
      await target.run('kill -9 %1');
    },
  },
  {
    name: 'Ctrl-C interrupts, and the shell goes on',
    async run(target) {
      const command = 'v=1; sh -c "echo begun; exec sleep 600"';
      equal((await runUntil(target, command, 'begun')).status, 'running');
      const result = await target.interrupt();
      equal(result.status, 'interrupted');
      equal(result.exitCode, 130);
      equal((await target.run('echo $v')).text, '1\n');
    },
  },
  {
    name: 'Ctrl-C while a program floods the terminal',
    isLong: true,
    async run(target) {
      await target.run('yes', { wait: 0.5 });
      const began = Date.now();
      equal((await target.interrupt()).status, 'interrupted');
      ok(Date.now() - began < 10_000);
      equal((await target.run('echo on')).text, 'on\n');
    },
  },
  {
    name: 'a program that ignores Ctrl-C is killed on demand, twice at once does no harm',
    isLong: true,
    async run(target) {
      const command = 'sh -c \'trap "" INT TERM; echo begun; while :; do sleep 0.1; done\'';
      await runUntil(target, command, 'begun');
      equal((await target.interrupt()).status, 'running');
      const both = await Promise.allSettled([
        target.interrupt({ kill: true }),
        target.interrupt({ kill: true }),
      ]);
      // The second may come when nothing runs any more.
      const ends = both.map((end) =>
        end.status === 'fulfilled' ? end.value.status : String(end.reason),
      );
      ok(ends.includes('interrupted'), ends.join());
      ok(
        ends.every((end) => /^interrupted$|Nothing is running/.test(end)),
        ends.join(),
      );
      equal((await target.run('echo on')).text, 'on\n');
    },
  },
  {
    name: 'a killed pipeline ends as a whole',
    async run(target) {
      await script(
        target,
        'pipe',
        "sh -c 'echo $$ >>'$F'; exec sleep 600' | sh -c 'echo $$ >>'$F'; cat' | cat",
      );
      await target.run('. ./pipe', { wait: 0.1 });
      await pidsOf(target, 'pipe.pids', 2);
      const result = await target.interrupt({ kill: true });
      equal(result.status, 'interrupted');
      equal(result.exitCode, null);
      await nobodyLeft(target, 'pipe', 2);
      equal((await target.run('yes | head -n 1')).text, 'y\n');
    },
  },
  {
    name: 'a process id that was used before is not mistaken',
    isLong: true,
    async run(target) {
      // A killed process is identified by its start and its command, so an older process outlives any number of kills.
      await target.run("sh -c 'echo $$ >old.pids; exec sleep 600' &");
      for (let round = 0; round < 3; round += 1) await target.run('sleep 600', { timeout: 0.2 });
      const pids = await pidsOf(target, 'old.pids', 1);
      equal(pids.length, 1);
      deepEqual(await living(target, pids), pids);
      await target.run(`kill ${pids.join(' ')}`);
    },
  },
  {
    name: 'a background job outlives its command and keeps printing',
    async run(target) {
      const result = await target.run(
        "sh -c 'echo $$ >job.pids; sleep 0.5; echo late; exec sleep 600' & echo done",
      );
      match(result.text, /done\n/);
      await target.run('sleep 0.1', { timeout: 20 });
      const pids = await pidsOf(target, 'job.pids', 1);
      deepEqual(await living(target, pids), pids);
      await until('it prints', async () =>
        Buffer.from(await target.printed('main')).includes('late\r\n'),
      );
      await target.run(`kill ${pids.join(' ')}`);
    },
  },
  {
    name: 'a background command answers at once, is listed, and ends when interrupted',
    async run(target) {
      const result = await target.run("sh -c 'echo $$ >server.pids; exec sleep 600'", {
        background: true,
      });
      equal(result.status, 'background');
      equal((await target.run('echo free')).text, 'free\n');
      await until('it is listed', async () =>
        (await target.list()).some((each) => each.running?.includes('server.pids')),
      );
      await target.run('until [ -s server.pids ]; do sleep 0.02; done');
      await target.interrupt({ kill: true });
      await nobodyLeft(target, 'server', 1);
    },
  },
  {
    name: 'closing a terminal ends everything in it',
    async run(target) {
      await script(
        target,
        'close',
        `
sh -c 'echo $$ >>'$F'; trap "" HUP TERM; while :; do sleep 1; done' &
(trap '' HUP; exec setsid sh -c 'echo $$ >>'$F'; exec sleep 600' >/dev/null 2>&1) &
sh -c 'echo $$ >>'$F'; exec sleep 600'
`,
      );
      await target.run('. ./close', { terminal: 'closing', wait: 0.1 });
      await pidsOf(target, 'close.pids', 3);
      await target.close('closing');
      await nobodyLeft(target, 'close', 3);
    },
  },
];

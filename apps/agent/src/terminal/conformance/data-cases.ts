import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { caseWaitSeconds, type ConformanceCase } from './target.js';

const mebibyte = 1024 * 1024;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Bytes go in and come out as they are, in any amount. */
export const dataCases: ConformanceCase[] = [
  {
    name: '50 MiB written and read',
    isLong: true,
    isForOneImage: true,
    async run(target) {
      const bytes = randomBytes(50 * mebibyte);
      await target.writeFile('big', bytes);
      match(
        (await target.run('sha256sum big; cp big copy', { wait: caseWaitSeconds })).text,
        new RegExp(sha256(bytes)),
      );
      equal(sha256(await target.readFile('copy')), sha256(bytes));
      await target.run('rm big copy');
    },
  },
  {
    name: '50 MiB of standard input',
    isLong: true,
    isForOneImage: true,
    async run(target) {
      const bytes = randomBytes(50 * mebibyte);
      const stdin = bytes.toString('base64');
      const result = await target.run('sha256sum', {
        stdin,
        stdinEncoding: 'base64',
        wait: caseWaitSeconds,
      });
      match(result.text, new RegExp(sha256(bytes)));
    },
  },
  {
    name: 'standard input that nobody reads',
    async run(target) {
      const result = await target.run('true; echo done', { stdin: 'x'.repeat(mebibyte) });
      equal(result.text, 'done\n');
    },
  },
  {
    name: 'binary input with NULs',
    async run(target) {
      const bytes = Buffer.from([0, 1, 2, 0, 255, 254, 10, 13, 26, 4, 3, 0]);
      const stdin = bytes.toString('base64');
      await target.run('cat > nul', { stdin, stdinEncoding: 'base64' });
      equal(Buffer.from(await target.readFile('nul')).toString('hex'), bytes.toString('hex'));
    },
  },
  {
    name: 'empty input is an end of file, and the next command has the terminal again',
    async run(target) {
      equal((await target.run('wc -c | tr -d " "', { stdin: '' })).text, '0\n');
      equal((await target.run('cat; echo end', { stdin: '' })).text, 'end\n');
      equal((await target.run('[ -t 0 ] && echo terminal')).text, 'terminal\n');
    },
  },
  {
    name: 'a command with input changes the shell as any other',
    isLong: true,
    async run(target) {
      await target.run('read -r line; mkdir -p inside; cd inside', { stdin: 'first\nsecond\n' });
      equal((await target.run('echo "$line"; basename "$PWD"')).text, 'first\ninside\n');
    },
  },
  {
    name: '1 MiB of arguments where the kernel allows',
    isLong: true,
    async run(target) {
      const command = `set -- "$(printf '%01023d' 0)"; while [ $# -lt 1024 ]; do set -- "$@" "$@"; done
/bin/echo "$@" | wc -c | tr -d ' '`;
      const { text } = await target.run(command, { wait: caseWaitSeconds });
      ok(text === `${mebibyte}\n` || /too long/i.test(text), text.slice(-200));
      await target.run('set --');
    },
  },
  {
    name: 'a command of 1 MiB',
    async run(target) {
      const long = 'x'.repeat(mebibyte);
      equal(
        (await target.run(`v='${long}'; echo \${#v}; unset v`, { wait: caseWaitSeconds })).text,
        `${mebibyte}\n`,
      );
    },
  },
  {
    name: 'UTF-8 split across chunks and answers stays whole',
    isForOneImage: true,
    async run(target) {
      const command =
        "for i in 1 2 3; do printf '\\346'; sleep 0.1; printf '\\227'; sleep 0.1; printf '\\245'; done; echo";
      let text = '';
      let result = await target.run(command, { wait: 0.15 });
      text += result.text;
      while (result.status === 'running') {
        result = await target.read({ wait: 0.05 });
        text += result.text;
      }
      equal(text.trimEnd(), '日日日');
    },
  },
  {
    name: 'pages by offset are exact',
    isForOneImage: true,
    isLong: true,
    async run(target) {
      const { from, to } = await target.run('seq 1 20000', { wait: caseWaitSeconds });
      let text = '';
      for (let offset = from; offset < to;) {
        const page = await target.read({ from: offset, limit: Math.min(10_000, to - offset) });
        equal(page.from, offset);
        text += page.text;
        offset = page.to;
      }
      const lines = text.trimEnd().split('\n');
      equal(lines.length, 20_000);
      equal(lines[19_999], '20000');
    },
  },
  {
    name: 'long output loses its middle and reports how much',
    isForOneImage: true,
    async run(target) {
      const result = await target.run('seq 1 100000', { wait: caseWaitSeconds });
      match(result.text, /^1\n2\n/);
      match(result.text, /99999\n100000\n$/);
      match(result.text, /bytes left out/);
      ok(result.omittedBytes > 500_000);
      // Each line end is two bytes in the terminal.
      equal(result.to - result.from, 588_895 + 100_000);
    },
  },
  {
    name: 'one line of 10 MiB',
    isLong: true,
    isForOneImage: true,
    async run(target) {
      const command = `head -c ${10 * mebibyte} /dev/zero | tr '\\0' x; (exit 5)`;
      const result = await target.run(command, { wait: caseWaitSeconds });
      equal(result.exitCode, 5);
      equal(result.to - result.from, 10 * mebibyte);
    },
  },
  {
    name: 'random bytes in the terminal change nothing',
    isLong: true,
    async run(target) {
      equal((await target.run('head -c 300000 /dev/urandom; (exit 4)')).exitCode, 4);
      await target.run("printf '\\033c'");
      equal((await target.run('echo clear')).text, 'clear\n');
    },
  },
  {
    name: '5 MiB of output makes few events',
    isForOneImage: true,
    isLong: true,
    async run(target) {
      const before = await target.countEvents();
      const result = await target.run(`yes 0123456789abcde | head -c ${5 * mebibyte}`, {
        wait: caseWaitSeconds,
      });
      equal(result.exitCode, 0);
      equal(result.to - result.from, 5 * mebibyte + (5 * mebibyte) / 16);
      ok((await target.countEvents()) - before <= 10);
    },
  },
  {
    name: 'a job that prints all the time loses nothing while commands are handed over',
    isLong: true,
    async run(target) {
      const before = (await target.run('true')).to;
      await target.run('i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "<job$i>"; done', {
        background: true,
      });
      for (let turn = 0; turn < 60; turn += 1) {
        match(
          (await target.run(`echo "[turn$((${turn}))]"; (exit ${turn})`)).text,
          new RegExp(`\\[turn${turn}\\]`),
        );
      }
      await target.run('wait', { wait: 60 });
      const text = Buffer.from(await target.printed('main'))
        .subarray(before)
        .toString();
      // A line of which the rest does not come in time is cut by the prompt.
      const own =
        /\r\n~?[\w/.-]* \$ |(?:echo "\[turn\$\(\(\d+\)\)\]"; \(exit \d+\)|\[turn\d+\]|wait)\r\n/g;
      const printed = stripVTControlCharacters(text).replace(own, '');
      const seen = [...printed.matchAll(/<job(\d+)>/g)].map((found) => Number(found[1]));
      deepEqual(
        seen,
        Array.from({ length: 3000 }, (_, index) => index + 1),
      );
      ok(!text.includes('6973'));
    },
  },
  {
    name: 'a progress line that is overwritten is read once',
    isLong: true,
    async run(target) {
      const result = await target.run(
        "i=0; while [ $i -lt 100 ]; do i=$((i+1)); printf '\\r%d%%' $i; done; echo; printf '\\033[32mok\\033[0m\\n'",
      );
      equal(result.text, '100%\nok\n');
    },
  },
];

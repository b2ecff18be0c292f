import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import { until } from '@belay/testing';
import { startOf, processFile } from '../background/process-start.js';
import { AgentProcesses } from './agent-processes.js';
import { sandboxMark } from './left-programs.js';

const onLinux = process.platform === 'linux' ? it : it.skip;

describe('agents on a bare machine', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'belay-joined-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  onLinux('leave nothing running when they are stopped, also what has detached', async () => {
    const leaves =
      'setsid sh -c \'echo $$ > "$0/pid"; trap "" TERM; sleep 300\' "$PWD" & sleep 300';
    const agents = new AgentProcesses({
      folder,
      command: () => ({
        file: '/bin/sh',
        args: ['-c', leaves],
        env: { PATH: process.env['PATH'] },
      }),
      started: () => undefined,
      ended: () => undefined,
    });
    const wanted = { session: 's', token: 't', state: 'state' };
    await agents.start({ ...wanted, sandbox: 'one', workspace: 'one' });
    await agents.start({ ...wanted, sandbox: 'two', workspace: 'two' });
    const leftOf = (name: string) =>
      until(
        'its program',
        () => Number(processFile(join(folder, 'sessions', name, 'pid'))) || undefined,
      );
    const [one, two] = [await leftOf('one'), await leftOf('two')];
    await agents.stop('one');
    expect([startOf(one), typeof startOf(two)]).toEqual([undefined, 'string']);
    await agents.close();
    expect(startOf(two)).toBeUndefined();
  });

  onLinux('are reported with how they ended, however late that comes', async () => {
    const said: string[] = [];
    const agents = new AgentProcesses({
      folder,
      command: () => ({ file: '/bin/sleep', args: ['300'], env: {} }),
      started: () => undefined,
      ended: (_, how) => said.push(how),
    });
    const wanted = { session: 's', token: 't', state: 'state' };
    await agents.start({ ...wanted, sandbox: 'one', workspace: 'one' });
    const { pid } = JSON.parse(processFile(join(folder, 'agents', 'one.json')) ?? '') as {
      pid: number;
    };
    // A busy process looks for its agents before it receives the end of one: timers come next.
    await nextImmediate();
    process.kill(pid, 'SIGKILL');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    await until('the end', () => said.length > 0);
    expect(said).toEqual(['The agent ended: killed by SIGKILL']);
    await agents.close();
  });

  onLinux('see that they are kept: their records are touched', async () => {
    const agents = new AgentProcesses({
      folder,
      command: () => ({
        file: '/bin/sh',
        args: ['-c', 'echo "$BELAY_RECORD" > "$BELAY_WORKSPACE/record"; sleep 300'],
        env: { PATH: process.env['PATH'] },
      }),
      started: () => undefined,
      ended: () => undefined,
    });
    const wanted = { session: 's', token: 't', state: 'state' };
    await agents.start({ ...wanted, sandbox: 'one', workspace: 'one' });
    const record = await until('it says where', () =>
      processFile(join(folder, 'sessions', 'one', 'record'))?.trim(),
    );
    expect(record).toBe(join(folder, 'agents', 'one.json'));
    const old = new Date(0);
    utimesSync(record, old, old);
    await until('it is touched', () => statSync(record).mtimeMs > 0);
    await agents.close();
  });

  onLinux(
    'that ended while no join was there leave nothing running after the next one',
    async () => {
      const left = spawn('sleep', ['300'], { env: { ...process.env, ...sandboxMark('gone') } });
      const over = once(left, 'exit');
      mkdirSync(join(folder, 'agents'));
      const agent = {
        sandbox: 'gone',
        session: 's',
        pid: 1,
        start: 'another boot',
        workspace: 'w',
      };
      writeFileSync(join(folder, 'agents', 'gone.json'), JSON.stringify(agent));
      const agents = new AgentProcesses({
        folder,
        command: () => ({ file: '/bin/true', args: [], env: {} }),
        started: () => undefined,
        ended: () => undefined,
      });
      expect(agents.sandboxes).toEqual([]);
      await over;
      expect(readdirSync(join(folder, 'agents'))).toEqual([]);
      await agents.close();
    },
  );
});

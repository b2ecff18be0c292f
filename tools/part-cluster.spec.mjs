import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAgentSandbox, partCluster } from './part-cluster.mjs';
import { root } from './product-node.mjs';

const file = join(root, 'tools/part-cluster.mjs');

describe('a cluster for a part of the tests', () => {
  let folder;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'belay-part-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const nothing = () => join(folder, 'network');
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  /** Notes what it is called with, and where; `up` runs the script. */
  const commandThat = (up) => {
    const file = join(folder, 'command');
    const note = `echo "$1 $CLUSTER_DIR" >> ${folder}/calls`;
    writeFileSync(file, `#!/bin/sh\n${note}\n[ "$1" != up ] || { ${up}; }\n`, { mode: 0o755 });
    return { PATH: process.env.PATH, BELAY_TEST_CLUSTER_COMMAND: file };
  };

  it('is the one that is given, which nobody takes down', async () => {
    const given = { ...commandThat('exit 1'), BELAY_TEST_CLUSTER: '/kubeconfig' };
    const { environment, down } = await partCluster(given, nothing());
    await down();
    expect(environment).toEqual({});
    expect(existsSync(join(folder, 'calls'))).toBe(false);
  });

  it('is started in a folder of its own, and taken down with it', async () => {
    const env = commandThat('echo starting; echo "KUBECONFIG=$CLUSTER_DIR/admin.conf"');
    const { environment, down } = await partCluster(env, nothing());
    const { CLUSTER_DIR: own } = environment;
    expect(environment).toEqual({
      CLUSTER_DIR: own,
      PATH: `${own}/bin:${env.PATH}`,
      BELAY_TEST_CLUSTER: `${own}/admin.conf`,
      BELAY_TEST_CLUSTER_LOAD: `${env.BELAY_TEST_CLUSTER_COMMAND} load`,
      BELAY_TEST_CLUSTER_CONTROL: `${process.execPath} ${join(root, 'tools/control-cluster.mjs')}`,
    });
    expect(existsSync(own)).toBe(true);
    expect(calls()).toEqual([`up ${own}`]);
    await down();
    expect(calls()).toEqual([`up ${own}`, `down ${own}`]);
    expect(existsSync(own)).toBe(false);
  });

  it('gets agent-sandbox, and has its parts ended and started by its command', async () => {
    const env = commandThat('echo KUBECONFIG=/kubeconfig');
    const cluster = await partCluster(env, nothing());
    expect(await addAgentSandbox(cluster, env)).toEqual({ BELAY_TEST_AGENT_SANDBOX: 'true' });
    const { CLUSTER_DIR: own, BELAY_TEST_CLUSTER_CONTROL: control } = cluster.environment;
    execFileSync('sh', ['-c', `${control} stop kubelet`], {
      env: { ...env, ...cluster.environment },
    });
    await cluster.down();
    expect(calls()).toEqual([`up ${own}`, `agent-sandbox ${own}`, `stop ${own}`, `down ${own}`]);
    expect(await addAgentSandbox({ environment: {} }, env)).toEqual({});
    expect(await addAgentSandbox(cluster, { ...env, BELAY_TEST_CLUSTER_COMMAND: 'false' })).toEqual(
      {},
    );
  });

  it.each([
    ['echo "missing: ipset" >&2; exit 1', /^“.*command up” failed: missing: ipset$/],
    ['echo ready', /^“.*command up” did not print KUBECONFIG=…$/],
  ])('is missing with the reason of its command, and nothing stays: %s', async (up, reason) => {
    await expect(partCluster(commandThat(up), nothing())).rejects.toThrow(reason);
    const [first = '', second] = calls();
    const own = first.replace('up ', '');
    expect(second).toBe(`down ${own}`);
    expect(existsSync(own)).toBe(false);
  });

  it('leaves no empty folder where its command does nothing at all', async () => {
    const env = { PATH: process.env.PATH, BELAY_TEST_CLUSTER_COMMAND: 'false', TMPDIR: folder };
    await expect(partCluster(env, nothing())).rejects.toThrow('“false up” failed');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is taken down when this process is killed', async () => {
    const env = commandThat('echo KUBECONFIG=/kubeconfig');
    const script = `const { partCluster } = await import(${JSON.stringify(file)});
      await partCluster(${JSON.stringify(env)}, ${JSON.stringify(nothing())});
      process.kill(process.pid, 'SIGKILL');`;
    const options = { stdio: ['ignore', 'ignore', 'pipe'] };
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], options);
    child.stderr.resume();
    // What takes it down has the same standard error, which is closed by then.
    await once(child, 'close');
    expect(child.signalCode).toBe('SIGKILL');
    const [first = '', second] = calls();
    const own = first.replace('up ', '');
    expect(second).toBe(`down ${own}`);
    expect(existsSync(own)).toBe(false);
  });

  it('is missing where nothing starts one, or another one runs', async () => {
    await expect(partCluster({}, nothing())).rejects.toThrow('BELAY_TEST_CLUSTER names no cluster');
    const env = commandThat('exit 1');
    await expect(partCluster(env, folder)).rejects.toThrow(
      'another cluster for tests runs on this machine',
    );
    expect(existsSync(join(folder, 'calls'))).toBe(false);
  });
});

import { join } from 'node:path';
import type { Task } from '../model.js';
import { harborData, temporary, write } from '../testing/fixtures.js';
import { suiteNamed } from './index.js';

const { folder, remove } = temporary();
afterAll(remove);
let made = 0;

function taskWith(toml: string, files: Record<string, string> = {}): Task {
  const data = harborData(join(folder, String(++made)));
  write(join(data, 'answer'), { 'task.toml': toml, ...files });
  return suiteNamed('harbor').read(data)[0]!;
}

it('reads resources, users, networks and limits, in the new form and in the old', () => {
  const old = taskWith(
    'version = "1.0"\n[environment]\nmemory = "1.5G"\nstorage = "10G"\nallow_internet = false',
  );
  expect(old.environment).toMatchObject({ cpus: 1, memoryMb: 1536, network: 'none' });
  expect(old.steps[0]?.limits).toEqual({ build: 600, agent: 86_400, verify: 600 });
  const task = taskWith(
    '[agent]\nuser = 1000\ntimeout_sec = 5.5\nnetwork_mode = "no-network"\n[environment]\ncpus = 2\nmemory_mb = 512\nnetwork_mode = "public"\nworkdir = "/w"\n[environment.env]\nA = "${A:-x}"\nB = "$C"\n[verifier]\nuser = "root"',
  );
  expect(task).toMatchObject({
    user: '1000',
    unsupported: null,
    environment: {
      cpus: 2,
      memoryMb: 512,
      network: 'none',
      workdir: '/w',
      env: { A: 'x', B: '$C' },
    },
  });
  expect(taskWith('').environment.network).toBe('bridge');
});

it('reads the network of the agent and of the verifier, with their allowed hosts', () => {
  const networks = (toml: string) => {
    const { environment, steps } = taskWith(toml);
    return [environment.network, steps[0]?.verifier.network];
  };
  const list = 'network_mode = "allowlist"\nallowed_hosts = ["PyPI.org.", "*.example.com"]';
  const hosts = { hosts: ['pypi.org', '*.example.com'] };
  expect(networks(`[environment]\n${list}`)).toEqual([hosts, hosts]);
  expect(networks(`[environment]\n${list}\n[agent]\nnetwork_mode = "no-network"`)).toEqual([
    'none',
    hosts,
  ]);
  expect(networks(`[verifier]\n${list}\n[environment]\nallow_internet = false`)).toEqual([
    'none',
    hosts,
  ]);
  // The verifier's own environment does not inherit the network of the agent's.
  expect(networks('[environment]\nnetwork_mode = "no-network"\n[verifier.environment]')).toEqual([
    'none',
    'bridge',
  ]);
  expect(networks('[environment]\nnetwork_mode = "allowlist"')).toEqual(['none', 'none']);
  expect(() => taskWith('[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a\\nb"]')).toThrow(
    /must be a host/,
  );
  expect(() => taskWith('[agent]\nallowed_hosts = ["a.example"]')).toThrow(
    /allowed_hosts belong to network_mode/,
  );
});

it('collects with pre_artifacts.sh and with commands, those of the task before those of a step', () => {
  const toml = '[[verifier.collect]]\ncommand = "git diff"\ntimeout_sec = 300\nuser = 1000\n';
  const [single] = taskWith(toml, { 'pre_artifacts.sh': 'git diff > /logs/artifacts/p\n' }).steps;
  expect(single?.collect).toEqual([
    {
      command: ['bash', '/belay/pre_artifacts.sh'],
      files: [expect.objectContaining({ path: '/belay/pre_artifacts.sh' })],
      seconds: 300,
      user: null,
    },
    { command: ['bash', '-c', 'git diff'], files: [], seconds: 300, user: '1000' },
  ]);
  const steps = `[[steps]]\nname = "one"\n[[steps.verifier.collect]]\ncommand = "true"\n`;
  expect(taskWith(toml + steps).steps[0]?.collect?.map(({ command }) => command[2])).toEqual([
    'git diff',
    'true',
  ]);
  expect(taskWith('').steps[0]?.collect).toEqual([]);
});

it('an image that the authors published stands for its Dockerfile', () => {
  const toml =
    '[environment]\ndocker_image = "own/task:1"\n[verifier.environment]\ndocker_image = "own/verifier:1"';
  const built = taskWith(toml, { 'tests/Dockerfile': 'FROM own/task:1\n' });
  expect(built.environment.image).toMatchObject({ kind: 'build', published: 'own/task:1' });
  const { verifier } = built.steps[0]!;
  expect(verifier.environment?.image).toMatchObject({ kind: 'build', published: 'own/verifier:1' });
  const named = taskWith(toml).steps[0]!.verifier;
  expect(named.environment?.image).toEqual({ kind: 'image', name: 'own/verifier:1' });
  // Its tests are in the image, so they are not copied into it.
  for (const { files } of [verifier, named])
    expect(files.some(({ path }) => path.startsWith('/tests'))).toBe(false);
  const shared = taskWith('[verifier]\nenvironment_mode = "separate"').steps[0]!.verifier;
  expect(shared.files.some(({ path }) => path === '/tests/test.sh')).toBe(true);
});

it('does not show an agent the marks of benchmark data', () => {
  const instructionOf = (text: string) =>
    taskWith('', { 'instruction.md': text }).steps[0]?.instruction;
  expect(instructionOf('<!-- harbor-canary GUID 1 -->\n# canary 2\n\nWrite it.\n')).toBe(
    'Write it.\n',
  );
  expect(instructionOf('# Title\n\nThe canary sings.\n')).toBe('# Title\n\nThe canary sings.\n');
});

it('a verifier with its own environment runs separately, with the named artifacts', () => {
  const task = taskWith(
    'artifacts = ["/app/a/", {source = "/app/b", exclude = ["x"], destination = "b.txt"}]\n[verifier.environment]\nmemory_mb = 256',
    { 'tests/Dockerfile': 'FROM ubuntu:24.04\n' },
  );
  expect(task.artifacts).toEqual({
    kind: 'paths',
    paths: [
      { path: '/logs/artifacts', exclude: [] },
      { path: '/app/a', exclude: [] },
      { path: '/app/b', exclude: ['x'] },
    ],
  });
  expect(task.steps[0]?.verifier.environment).toMatchObject({
    memoryMb: 256,
    image: { kind: 'build' },
  });
});

it('steps have thresholds by key, setups and healthchecks', () => {
  const step = (more: string) => `[[steps]]\nname = "one"\n${more}\n`;
  const { steps } = taskWith(
    `${step('min_reward = 0.5')}${step('min_reward = {a = 1.0}\n[steps.healthcheck]\ncommand = "true"')}`,
  );
  expect(steps.map(({ minReward }) => minReward)).toEqual([{ reward: 0.5 }, { a: 1 }]);
  expect(steps[1]).toMatchObject({
    setup: 'setup.sh',
    healthcheck: { command: 'true', retries: 3 },
  });
});

it.each<[string, string | RegExp, Record<string, string>?]>([
  ['[environment]\nos = "Windows"', 'It needs an operating system other than Linux.'],
  ['[environment]\ngpus = 1', 'It needs a GPU or a TPU.'],
  ['[[environment.mcp_servers]]\nname = "a"\nurl = "http://a"', /the MCP servers a, which/],
  [
    '[verifier]\nenvironment_mode = "separate"',
    /^Its tests\/docker-compose.yaml /,
    { 'tests/docker-compose.yaml': ': not yaml [' },
  ],
  ['[[verifier.collect]]\ncommand = "true"\nservice = "db"', /from the service db, but/],
  ['artifacts = [{source = "/a", service = "db"}]', /from the service db, but/],
  ['[verifier.env]\nKEY = "${OPENAI_API_KEY}"', /needs OPENAI_API_KEY from the host/],
  [
    '[[steps]]\nname = "a"\n[steps.verifier]\nenvironment_mode = "separate"\n[[steps]]\nname = "b"',
    /Some of its steps/,
  ],
  [
    '[[steps]]\nname = "a"\n[[steps]]\nname = "b"\n[steps.agent]\nuser = "b"',
    /different users or networks/,
  ],
  ['[[steps]]\nname = "a"', /pre_artifacts.sh, which/, { 'pre_artifacts.sh': 'true\n' }],
  ['', /an earlier conversation \(trajectory.json\)/, { 'trajectory.json': '{}' }],
])('%j is not run, with a reason: %s', (toml, why, files = {}) => {
  expect(taskWith(toml, files).unsupported).toEqual(
    typeof why === 'string' ? why : expect.stringMatching(why),
  );
});

it('a compose file that is only one of the tests does not matter', () => {
  const files = { 'tests/docker-compose.yaml': 'services:\n  db: {}\n' };
  expect(taskWith('', files).unsupported).toBeNull();
});

it('a task without an image is not run, and a contradictory one is not read', () => {
  const data = write(join(folder, 'bare'), { 'a/task.toml': '' });
  expect(suiteNamed('harbor').read(data)[0]?.unsupported).toMatch(/neither/);
  expect(() => taskWith('[verifier]\nenvironment_mode = "shared"\n[verifier.environment]')).toThrow(
    /exclude each other/,
  );
});

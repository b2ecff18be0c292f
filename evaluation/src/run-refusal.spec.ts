import { join } from 'node:path';
import { runRefusal } from './run-refusal.js';
import { suiteNamed } from './suites/index.js';
import { harborData, temporary, write } from './testing/fixtures.js';

const { folder, remove } = temporary();
afterAll(remove);
let made = 0;

function refused(
  toml: string,
  run: Partial<Parameters<typeof runRefusal>[1]> = {},
  files: Record<string, string> = {},
) {
  const data = harborData(join(folder, String(++made)));
  write(join(data, 'answer'), { 'task.toml': toml, ...files });
  const [task] = suiteNamed('harbor').read(data);
  return runRefusal(task!, { agent: 'oracle', network: 'declared', ...run });
}

const list = (hosts: string) => `network_mode = "allowlist"\nallowed_hosts = [${hosts}]\n`;
const agentOnly = (hosts: string) =>
  `[agent]\n${list(hosts)}[verifier]\nnetwork_mode = "no-network"\n`;

it('a list of hosts needs the egress proxy, which only sessions have', () => {
  const toml = agentOnly('"pypi.org", "*.example.com"');
  expect(refused(toml)).toMatch(/^It may reach only pypi.org, \*.example.com, and only the agent/);
  expect(refused(toml, { agent: 'command:true' })).toMatch(/only the agent `model`/);
  expect(refused(toml, { agent: 'model' })).toBeNull();
  // Without a network, nothing is reached by anyone.
  expect(refused(toml, { network: 'none' })).toBeNull();
  expect(refused('[environment]\nnetwork_mode = "public"')).toBeNull();
});

it.each(['10.0.0.0/8', '192.0.2.1', '2001:db8::1', 'a*.example'])(
  'the proxy does not allow %j, which is not the name of a host',
  (host) => {
    expect(refused(agentOnly(`"${host}"`), { agent: 'model' })).toContain(`reach ${host}, and`);
  },
);

it('a verifier has no proxy', () => {
  const toml = `[environment]\nnetwork_mode = "no-network"\n[verifier]\n${list('"pypi.org"')}`;
  for (const agent of ['model', 'oracle'])
    expect(refused(toml, { agent })).toMatch(/^Its verifier may reach only pypi.org, and/);
  expect(refused(toml, { network: 'none' })).toBeNull();
});

it('the agent `model` has no healthchecks and setups, with a reason', () => {
  const checked = '[environment.healthcheck]\ncommand = "true"';
  expect(refused(checked, { agent: 'model' })).toMatch(/^Its healthcheck .* not for the agent/);
  expect(refused(checked)).toBeNull();
  const stepped = '[[steps]]\nname = "one"';
  const setup = { 'steps/one/workdir/setup.sh': 'true' };
  expect(refused(stepped, { agent: 'model' }, setup)).toMatch(/^Its setup.sh .* not for the agent/);
  expect(refused(stepped, { agent: 'model' })).toBeNull();
});

it('services run beside one session', () => {
  const files = { 'environment/docker-compose.yaml': 'services:\n  db: { image: a }\n' };
  const steps = '[[steps]]\nname = "a"\n[[steps]]\nname = "b"\n';
  expect(refused(steps, { agent: 'model' }, files)).toMatch(/^Its services would outlive/);
  expect(refused(steps, { agent: 'command:true' }, files)).toBeNull();
  expect(refused('', { agent: 'model' }, files)).toBeNull();
});

import { join } from 'node:path';
import { harborData, temporary, write } from '../testing/fixtures.js';
import { suiteNamed } from './index.js';

const { folder, remove } = temporary();
afterAll(remove);
let made = 0;

function taskWith(compose: string, files: Record<string, string> = {}) {
  const data = harborData(join(folder, String(++made)));
  write(join(data, 'answer'), {
    'task.toml': '',
    'environment/docker-compose.yaml': compose,
    ...files,
  });
  return suiteNamed('harbor').read(data)[0]!;
}

it('reads services in the short form and in the long', () => {
  const short = `
x-common: &common
  restart: always
  environment: [A=1, "B=x=y"]
services:
  main: { depends_on: [db], environment: { DB: "postgres://db" }, command: sleep infinity }
  db:
    <<: *common
    image: postgres:16
    ports: ["5432:5432"]
    command: postgres -c 'log line' "a b"
    volumes: [data:/var/lib/data, "./init:/init:ro"]
    healthcheck: { test: pg_isready, interval: 1m30s }
volumes: { data: {} }
`;
  const { environment, unsupported } = taskWith(short, {
    'environment/init/a.sql': 'a',
    'environment/init/deep/b.sql': 'b',
  });
  expect(unsupported).toBeNull();
  expect(environment).toMatchObject({ needs: { db: 'started' }, env: { DB: 'postgres://db' } });
  const [db] = environment.services ?? [];
  expect(db).toMatchObject({
    name: 'db',
    hosts: ['db'],
    image: { kind: 'image', name: 'postgres:16' },
    entrypoint: null,
    command: ['postgres', '-c', 'log line', 'a b'],
    env: { A: '1', B: 'x=y' },
    healthcheck: {
      test: ['CMD-SHELL', 'pg_isready'],
      interval: 90,
      timeout: 30,
      startPeriod: 0,
      retries: 3,
    },
    cpus: 1,
    memoryMb: 2048,
  });
  expect(db?.files.map(({ path }) => path)).toEqual(['/init/a.sql', '/init/deep/b.sql']);
  const long = `
services:
  main: { networks: [inner] }
  api:
    build: { context: ./api, dockerfile: ./Api.dockerfile, target: run, args: { V: 2 } }
    image: own/api:1
    entrypoint: [/run]
    user: 1000
    hostname: api.test
    networks: { inner: { aliases: [other] } }
    mem_limit: 512m
    deploy: { resources: { limits: { cpus: "0.5" } } }
    environment: { E: "\${UNSET:-text} $$HOME" }
    volumes: [{ type: bind, source: ./one.txt, target: /etc/one.txt }]
`;
  const [api] =
    taskWith(long, {
      'environment/api/Api.dockerfile': 'FROM a AS run\n',
      'environment/api/Dockerfile': 'FROM other\n',
      'environment/one.txt': '1',
    }).environment.services ?? [];
  expect(api).toMatchObject({
    hosts: ['api', 'other', 'api.test'],
    image: { kind: 'build', published: 'own/api:1', target: 'run', args: { V: '2' } },
    entrypoint: ['/run'],
    user: '1000',
    env: { E: 'text $HOME' },
    files: [{ path: '/etc/one.txt' }],
    cpus: 0.5,
    memoryMb: 512,
  });
  const files = api?.image.kind === 'build' ? api.image.files : [];
  expect(files.map(({ path, bytes }) => [path, bytes.toString()])).toEqual([
    ['Api.dockerfile', 'FROM a AS run\n'],
    ['Dockerfile', 'FROM a AS run\n'],
  ]);
});

it('reads what Harbor’s own file says about the agent’s container, and its variables', () => {
  const compose = `
services:
  main:
    image: \${MAIN_IMAGE_NAME}
    build: { context: "\${CONTEXT_DIR}" }
    deploy: { resources: { limits: { cpus: "\${CPUS}", memory: "\${MEMORY}" } } }
  twin: { build: "\${CONTEXT_DIR}", cpus: "\${CPUS}", mem_limit: "\${MEMORY}" }
`;
  const task = taskWith(compose, { 'task.toml': '[environment]\ncpus = 2\nmemory_mb = 512\n' });
  expect(task.unsupported).toBeNull();
  expect(task.environment.services).toMatchObject([
    { name: 'twin', image: { kind: 'build' }, cpus: 2, memoryMb: 512 },
  ]);
});

it('orders services by what they need', () => {
  const { environment } = taskWith(`
services:
  main: { depends_on: { web: { condition: service_healthy } } }
  aside: { image: a }
  web: { image: a, depends_on: { db: { condition: service_completed_successfully } } }
  db: { image: a }
`);
  expect(environment.services?.map(({ name }) => name)).toEqual(['db', 'web', 'aside']);
  expect(environment.needs).toEqual({ web: 'healthy' });
  expect(environment.services?.[1]?.needs).toEqual({ db: 'completed' });
});

const db = (line: string) => `services:\n  db: { image: a, ${line} }\n`;

it.each([
  [db('privileged: true'), 'The service db sets privileged, which is not supported here.'],
  [db('network_mode: host'), /sets network_mode/],
  [db('pid: host'), /sets pid/],
  [db('ipc: host'), /sets ipc/],
  [db('cap_add: [SYS_ADMIN]'), /sets cap_add/],
  [db('devices: [/dev/sda]'), /sets devices/],
  [db('security_opt: ["seccomp:unconfined"]'), /sets security_opt/],
  [db('cgroup_parent: /'), /sets cgroup_parent/],
  [db('extra_hosts: ["a:1.2.3.4"]'), /sets extra_hosts/],
  [db('env_file: /root/.env'), /sets env_file/],
  [db('extends: { file: ../../a.yaml, service: a }'), /sets extends/],
  [db('develop: {}'), /sets develop/],
  [
    db('volumes: ["/var/run/docker.sock:/var/run/docker.sock"]'),
    'The service db uses /var/run/docker.sock, which is outside the task.',
  ],
  [db('volumes: ["../../../etc:/host"]'), /which is outside the task/],
  [db('volumes: ["./a/../../../etc:/host"]'), /which is outside the task/],
  [db('volumes: ["~/.ssh:/host"]'), /which is outside the task/],
  [db('volumes: [{ type: bind, source: /etc, target: /host }]'), /which is outside the task/],
  [db('build: /etc'), /uses \/etc\/, which is outside the task/],
  [db('build: ../..'), /which is outside the task/],
  [db('build: { context: ., ssh: [default] }'), /sets build.ssh/],
  [db('build: { context: ., dockerfile: ../../../etc/passwd }'), /which is missing/],
  [db('build: "https://example.com/a.git"'), /built from Dockerfile, which is missing/],
  [
    db('environment: [HOME]'),
    'The service db has environment in a form that is not supported here.',
  ],
  [db('environment: { A: null }'), /environment in a form|environment\.A in a form/],
  [db('environment: { A: "${SECRET}" }'), /needs SECRET from the host/],
  [db('environment: { A: "$SECRET" }'), /needs SECRET from the host/],
  [db('depends_on: [db]'), /The service db needs itself/],
  [db('depends_on: [missing]'), /The service missing, which others need, is missing/],
  [db('networks: [inner]'), /db is in no network of the agent’s container/],
  [db('hostname: "a b"'), /a b is not a host name/],
  [db('container_name: "127.0.0.1\\n1.2.3.4 pypi.org"'), /is not a host name/],
  ['services:\n  "a\\nb": {}\n', /The file has services/],
  ['services:\n  db: {}\n', /has neither an image nor a build/],
  ['services:\n  main: { image: other }\n', /The service main has image in a form/],
  ['services:\n  main: { build: ./other }\n', /The service main has build in a form/],
  [
    db('deploy: { resources: { reservations: { devices: [{ driver: nvidia }] } } }'),
    /sets deploy.resources.reservations.devices/,
  ],
  ['services:\n  main: { privileged: true }\n', /The service main sets privileged/],
  ['services:\n  main: { command: rm -rf / }\n', /The service main has command in a form/],
  ['include: [/etc/a.yaml]\nservices: {}\n', 'The file sets include, which is not supported here.'],
  ['secrets: { a: { file: /etc/shadow } }\nservices: {}\n', /sets secrets/],
  [
    'services:\n  a: { image: a, volumes: [v:/a] }\n  b: { image: a, volumes: [v:/b] }\n',
    /share the volume v/,
  ],
  ['services: [', 'It is not valid YAML.'],
  ['services: &a { b: *a }', /./],
  ['[]', /The file has its content in a form/],
])('attack: %s is not started', (compose, why) => {
  const { unsupported } = taskWith(compose);
  expect(unsupported).toMatch(/^Its environment\/docker-compose\.yaml cannot be used\. /);
  const reason = unsupported?.replace(/^.*? cannot be used\. /, '');
  if (typeof why === 'string') expect(reason).toBe(why);
  else expect(reason).toMatch(why);
});

import { DockerTasks } from '@belay/containers';
import { noArtifacts } from '../artifacts.js';
import { defaultFromMap, Images } from '../engine/images.js';
import { fileEntry } from '../entries.js';
import type { CollectCommand, Task } from '../model.js';
import { suiteNamed } from '../suites/index.js';
import { temporary, write } from '../testing/fixtures.js';
import type { TrialContext } from './agent.js';
import { workArtifacts } from './work-artifacts.js';

const engine = new DockerTasks();
const images = new Images({
  engine,
  sandbox: process.env.BELAY_TEST_IMAGE ?? null,
  fromMap: defaultFromMap,
});
const { folder, remove } = temporary();
afterAll(remove);

const toml = `artifacts = ["/app", "/logs/artifacts/model.patch"]
[verifier]
environment_mode = "separate"
[[verifier.collect]]
command = "git diff --binary base HEAD > /logs/artifacts/model.patch"
`;
const git = 'git -c user.name=a -c user.email=a@localhost';
const files = {
  'task.toml': toml,
  'instruction.md': 'Work and commit.\n',
  'environment/Dockerfile': `FROM ubuntu:24.04
WORKDIR /app
RUN echo old > kept.txt && cp kept.txt changed.txt && cp kept.txt gone.txt && git init -q . && git add -A && ${git} commit -q -m base && git tag base
`,
  'tests/test.sh': 'true\n',
};

async function contextOf(task: Task): Promise<TrialContext> {
  const signal = AbortSignal.timeout(280_000);
  const image = await images.ensure(task.environment.image, signal);
  return {
    host: engine,
    engine,
    run: 'work-artifacts',
    network: 'none',
    task,
    image,
    verifierImages: new Map(),
    serviceImages: new Map(),
    services: null,
    attempt: 1,
    signal,
  };
}

it('the changes of a session become commits for the commands that collect them', async () => {
  const [task] = suiteNamed('harbor').read(write(folder, files));
  if (task?.artifacts.kind !== 'paths') throw new Error('The task has no separate verifier.');
  const [step] = task.steps;
  const context = await contextOf(task);
  const changes = {
    ...noArtifacts,
    entries: [fileEntry('/app/changed.txt', 'new\n'), fileEntry('/app/src/added.txt', 'added\n')],
    removed: ['/app/gone.txt'],
  };
  const { paths } = task.artifacts;
  const found = await workArtifacts(context, step!, { changes, paths });
  const textOf = (path: string) =>
    found.entries.find((entry) => entry.path === path)?.bytes.toString();
  expect(found.note).toBe('');
  // The whole folder travels, and not only what has changed.
  expect(textOf('/app/kept.txt')).toBe('old\n');
  expect(textOf('/app/src/added.txt')).toBe('added\n');
  expect(textOf('/app/gone.txt')).toBeUndefined();
  const patch = textOf('/logs/artifacts/model.patch');
  for (const part of ['+new', 'a/gone.txt', 'b/src/added.txt']) expect(patch).toContain(part);
  expect(patch).not.toContain('kept.txt');
  const failing: CollectCommand = { files: [], command: ['false'], seconds: 60, user: null };
  const unchanged = await workArtifacts(
    context,
    { ...step!, collect: [failing, ...(step!.collect ?? [])] },
    { changes: noArtifacts, paths },
  );
  expect(unchanged.note).toMatch(/^Collect command 1 exited with code 1/);
  expect(unchanged.entries.find(({ path }) => path.endsWith('model.patch'))?.bytes.toString()).toBe(
    '',
  );
});

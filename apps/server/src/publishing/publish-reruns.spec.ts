import {
  AppError,
  type Event,
  type RerunReport,
  type SessionSummary,
  type SignedEnvelope,
} from '@belay/protocol';
import { gitIn, put } from '@belay/testkit';
import { Reruns, type WantedReruns } from '../proof/reruns/reruns.js';
import { rerunTrees } from '../proof/reruns/trees.js';
import { GitScene } from '../testing/git-scene.js';

const scene = new GitScene();
const { belay, cloned, edit, prepare, publish, scratch } = scene;
const reproduction = {
  command: 'npm test -- test/a.test.js',
  files: ['test/a.test.js'],
  expects: 'TypeError: x is undefined',
};
const report: RerunReport = {
  image: { name: 'i', id: 'sha256:1' },
  claims: [
    { claim: 'reproduction', verdict: 'confirmed', why: 'It does.', runs: [], ...reproduction },
  ],
};
let rerun: (wanted: WantedReruns, signal: AbortSignal) => Promise<RerunReport>;

beforeAll(() => {
  belay.replace(Reruns, { run: (wanted, signal) => rerun(wanted, signal) });
  return scene.start();
});
afterAll(() => scene.close());

const changed = async () => {
  const of = await cloned();
  edit((work) => {
    put(work, 'README.md', 'one\n2\nthree\n');
    put(work, 'test/a.test.js', 'test\n');
  });
  const { id } = await prepare(of.session, { branch: 'x' });
  return { ...of, body: { branch: 'x', id, message: 'm', reproduction } };
};

it('runs a named test on exactly what is pushed and what it is based on, before the push', async () => {
  const { session, bare, body } = await changed();
  let trees: Awaited<ReturnType<typeof rerunTrees>> | undefined;
  rerun = async (wanted, signal) => {
    expect(() => gitIn(bare, 'rev-parse', '--verify', 'x')).toThrow();
    expect(wanted).toMatchObject({ session, reproduction });
    trees = await rerunTrees(wanted.repository, { ...wanted, files: reproduction.files, signal });
    return report;
  };
  expect(await publish(session, body)).toMatchObject({ status: 200, reruns: report });
  expect(trees).toMatchObject({
    base: gitIn(bare, 'rev-parse', 'main^{tree}').trim(),
    result: gitIn(bare, 'rev-parse', 'x^{tree}').trim(),
    refusal: null,
  });
  const events = await belay.json<Event[]>('GET', `/api/sessions/${session}/events`);
  expect((events as unknown as Event[]).at(-1)).toMatchObject({
    action: 'publish',
    args: { branch: 'x', reruns: report },
    message: expect.stringMatching(/^Pushed .*\nReproduction confirmed: It does\.$/) as string,
  });
  const { published } = await belay.json<SessionSummary>('GET', `/api/sessions/${session}`);
  expect(published).not.toHaveProperty('reruns');

  // Other tools are told of it in the standard form.
  const path = `/api/evidence/${evidenceOf(bare)}/test-result`;
  const { payload } = await belay.json<SignedEnvelope>('GET', path);
  expect(JSON.parse(Buffer.from(payload, 'base64').toString())).toMatchObject({
    subject: [{ digest: { gitCommit: gitIn(bare, 'rev-parse', 'x').trim() } }, {}],
    predicate: { result: 'PASSED', passedTests: [`reproduction: ${reproduction.command}`] },
  });
});

const evidenceOf = (bare: string): string =>
  gitIn(bare, 'log', '-1', '--format=%(trailers:key=Belay-Evidence,valueonly)', 'x')
    .trim()
    .slice(7);

it('judges the claims of a statement again, on what the git host has', async () => {
  const { session, bare, body } = await changed();
  const setup = { command: 'npm ci', hosts: ['@npm'], paths: ['node_modules'], seconds: 60 };
  const settings = { setup, commands: ['npm test'], repeat: 3 };
  rerun = () => Promise.resolve({ ...report, settings });
  await publish(session, body);
  const evidence = evidenceOf(bare);
  const again = { ...report, claims: report.claims.map((one) => ({ ...one, why: 'Again.' })) };
  rerun = async (wanted) => {
    expect(wanted).toMatchObject({ ...settings, session, reproduction, check: null, image: 'i' });
    const trees = await rerunTrees(wanted.repository, {
      ...wanted,
      files: reproduction.files,
      signal: new AbortController().signal,
    });
    expect(trees.result).toBe(gitIn(bare, 'rev-parse', 'x^{tree}').trim());
    return again;
  };
  const path = `/api/evidence/${evidence}/reruns`;
  expect(await belay.json('POST', path)).toMatchObject({ ...again, status: 200 });
  const viewer = await belay.fetch(path, { method: 'POST', token: belay.viewerToken });
  expect(viewer.status).toBe(403);
  gitIn(bare, 'update-ref', '-d', 'refs/heads/x');
  gitIn(bare, 'gc', '--quiet', '--prune=now');
  rerun = () => Promise.reject(new Error('is not reached'));
  expect(await belay.json('POST', path)).toMatchObject({ status: 404 });
  expect(scratch()).toEqual([]);
});

it('repeats nothing where nothing was run', async () => {
  const { session, bare, body } = await changed();
  await publish(session, { ...body, reproduction: null });
  const path = `/api/evidence/${evidenceOf(bare)}`;
  expect(await belay.json('POST', `${path}/reruns`)).toMatchObject({ status: 409 });
  expect(await belay.json('GET', `${path}/test-result`)).toMatchObject({
    status: 404,
    detail: expect.stringContaining('Nothing was run again') as string,
  });
});

it('pushes nothing when tests cannot be run again, and what changed since it was shown', async () => {
  const { session, bare, body } = await changed();
  rerun = () => Promise.reject(new AppError('conflict', 'The image changed.'));
  expect(await publish(session, body)).toMatchObject({ status: 409, detail: 'The image changed.' });
  rerun = () => Promise.reject(new Error('is not reached'));
  const other = { ...body, id: 'a'.repeat(64) };
  expect(await publish(session, other)).toMatchObject({ status: 409 });
  const bad = { ...body, reproduction: { ...reproduction, expects: 'short' } };
  expect(await publish(session, bad)).toMatchObject({ status: 400 });
  expect(() => gitIn(bare, 'rev-parse', '--verify', 'x')).toThrow();
  expect(scratch()).toEqual([]);
  expect(await publish(session, { ...body, reproduction: null })).toMatchObject({
    status: 200,
    reruns: null,
  });
});

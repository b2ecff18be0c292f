import { execFileSync } from 'node:child_process';
import { canonicalDigest } from '@belay/proof';
import {
  agentTrace,
  agentTraceMediaType,
  newEvent,
  type AgentTrace,
  type NewEvent,
} from '@belay/protocol';
import { itLong } from '@belay/testing';
import { gitIn, put } from '@belay/testkit';
import { EventLog } from '../../logs/event-log.js';
import { Evidence } from '../../proof/evidence.js';
import { shellIn } from '../../testing/git-scene.js';
import { PullRequestScene } from '../../testing/pull-request-scene.js';

const scene = new PullRequestScene();
const { belay, cloned, prepare, publish } = scene;
beforeAll(() => scene.start());
afterAll(() => scene.close());
afterEach(() => belay.sandboxes.missing.clear());

const commitAll =
  'git add --all && git -c user.name=t -c user.email=t@t commit -q -m step && git rev-parse HEAD';

type Source = 'agent' | 'user' | 'nobody';
interface Edit {
  by: Source;
  change(folder: string): void;
}

const call = (id: string, source: 'agent' | 'user'): NewEvent => ({
  source,
  action: 'files.write',
  args: { path: 'a', content: 'b' },
  message: '',
  id,
});

/** A session whose history has a commit for each edit, and its sandbox the patches between them. */
async function worked(edits: readonly Edit[]) {
  const { session } = await cloned();
  const work = scene.checkout();
  const commits = [gitIn(work, 'rev-parse', 'HEAD').trim()];
  const step = (parent: string | null, commit: string, id?: string): NewEvent =>
    newEvent('agent', 'commit', {
      args: { commit, parent, files: [] },
      message: 'Step',
      ...(id !== undefined && { id }),
    });
  const log = belay.app.get(EventLog);
  const add = async ({ by, change }: Edit): Promise<void> => {
    change(work);
    const commit = shellIn(work, commitAll).toString().trim();
    const id = `call-${commits.length}`;
    const made = step(commits.at(-1) ?? '', commit, by === 'nobody' ? undefined : id);
    await log.append(session, by === 'nobody' ? [made] : [call(id, by), made]);
    commits.push(commit);
  };
  await log.append(session, [step(null, commits[0] ?? '')]);
  for (const edit of edits) await add(edit);
  const asked = (): { from?: string; commit?: string }[] =>
    belay.sandboxes.agents.get(session)?.exports ?? [];
  belay.sandboxes.patch = () => {
    const { from = commits[0] ?? '', commit = commits.at(-1) ?? '' } = asked().at(-1) ?? {};
    const diff = ['diff', '--binary', '--full-index', from, commit];
    return [execFileSync('git', ['-C', work, ...diff])];
  };
  const steps = () => asked().filter(({ commit }) => commit !== undefined).length;
  return { session, commits, add, steps };
}

async function traceOf(session: string) {
  const { id } = await prepare(session, { branch: 'x' });
  const { commit } = await publish(session, { branch: 'x', id, message: 'm' });
  const made = await belay.app.get(Evidence).recordOf(session, commit);
  const answer = await belay.fetch(`/api/evidence/${made?.id}/trace`);
  expect(answer.headers.get('content-type')).toContain(agentTraceMediaType);
  const trace = agentTrace.parse(await answer.json());
  const { vcs, ...content } = trace;
  expect(vcs).toEqual({ type: 'git', revision: commit });
  expect(made?.record.trace).toEqual({ sha256: canonicalDigest(content) });
  return trace;
}

const linesOf = ({ files }: AgentTrace) =>
  files.map(({ path, conversations }) => [
    path,
    ...conversations.map(({ contributor, ranges }) => [
      contributor.type,
      ...ranges.map((one) => `${one.start_line}-${one.end_line}`),
    ]),
  ]);

describe('the trace of a published commit', () => {
  it('has the lines of each contributor, wherever later steps moved them', async () => {
    const { session, steps } = await worked([
      {
        by: 'agent',
        change: (work) => {
          put(work, 'src/ä b.js', 'let a = 1;\nlet b = 2;\nlet c = 3;\nlet d = 4;\n');
          put(work, 'more.bin', Buffer.from([0, 1, 2]));
        },
      },
      {
        by: 'user',
        change: (work) => {
          put(work, 'src/ä b.js', '// A\nlet a = 1;\nlet b = 2;\nlet x = 9;\nlet d = 4;\n');
          put(work, 'README.md', 'one\nthree\n');
        },
      },
      { by: 'nobody', change: (work) => put(work, 'README.md', 'one\nthree\nfour\n') },
      { by: 'agent', change: (work) => put(work, 'b.txt', 'b') },
    ]);
    const trace = await traceOf(session);
    expect(linesOf(trace)).toEqual([
      ['README.md', ['unknown', '3-3']],
      ['b.txt', ['ai', '1-1']],
      ['src/ä b.js', ['human', '1-1', '4-4'], ['ai', '3-3', '5-5']],
    ]);
    expect(trace.files[1]?.conversations[0]?.contributor).toEqual({
      type: 'ai',
      model_id: 'scripted/x',
    });
    expect(trace.metadata['io.belay']).toEqual({
      attribution: 'steps',
      why: null,
      left_out: [{ path: 'more.bin', why: 'It is binary.' }],
      left_out_files: 1,
    });
    expect(steps()).toBe(4);
  });

  itLong('has only the lines that are not in the parent', async () => {
    const { session, add } = await worked([
      { by: 'agent', change: (work) => put(work, 'a.txt', 'a\nb\n') },
    ]);
    expect(linesOf(await traceOf(session))).toEqual([['a.txt', ['ai', '1-2']]]);
    await add({ by: 'agent', change: (work) => put(work, 'a.txt', 'a\nb\nc\nd\n') });
    await add({ by: 'user', change: (work) => put(work, 'a.txt', 'a\nb\nc\nx\ny\n') });
    expect(linesOf(await traceOf(session))).toEqual([['a.txt', ['ai', '3-3'], ['human', '4-5']]]);
  });

  itLong('asks for no step of a session with one contributor', async () => {
    const { session, steps } = await worked([
      { by: 'agent', change: (work) => put(work, 'a.txt', 'a\nb\n') },
      { by: 'agent', change: (work) => put(work, 'a.txt', 'a\nb\nc\n') },
    ]);
    const trace = await traceOf(session);
    expect(linesOf(trace)).toEqual([['a.txt', ['ai', '1-3']]]);
    expect(trace.metadata['io.belay'].attribution).toBe('session');
    expect(steps()).toBe(0);
  });

  it('says so when the steps cannot be read any more, and publishes all the same', async () => {
    const { session, commits } = await worked([
      { by: 'agent', change: (work) => put(work, 'a.txt', 'a\n') },
      { by: 'user', change: (work) => put(work, 'a.txt', 'a\nb\n') },
    ]);
    belay.sandboxes.missing.add(commits[1] ?? '');
    const trace = await traceOf(session);
    expect(linesOf(trace)).toEqual([['a.txt', ['unknown', '1-2']]]);
    expect(trace.metadata['io.belay']).toMatchObject({
      attribution: 'unknown',
      why: 'The history has no such commit.',
    });
  });
});

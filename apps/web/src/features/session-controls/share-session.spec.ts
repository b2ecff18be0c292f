import { AppError, newEvent, sessionSettings } from '@belay/protocol';
import { RestStub } from '@/testing/rest-stub';
import { logOf, summaryWith } from '@/testing/session-log';
import { recordingOf } from './share-session';

const [start, edit] = ['a'.repeat(40), 'b'.repeat(40)];

const commit = (id: string, parent: string | null, files: { path: string }[]) =>
  newEvent('agent', 'commit', {
    args: { commit: id, parent, files: files.map((file) => ({ ...file, added: 1, removed: 0 })) },
    message: 'Recorded',
  });

const record = async (...commits: Parameters<typeof logOf>) => {
  const log = logOf(...commits);
  void new RestStub({
    sessions: {
      blob: ({ params }) => new TextEncoder().encode(`output ${params.blob.slice(0, 2)}`),
      events: ({ query }) => log.filter(({ seq }) => seq > Number(query.after)),
      call: ({ params, body }) => {
        if (params.name !== 'workspace.show') return { diff: '', truncated: false, files: [] };
        const { path, commit: at } = body as { path: string; commit: string };
        if (path === 'gone.js') throw new AppError('conflict', 'The session has no sandbox now.');
        const binary = path.endsWith('.png');
        return {
          content: binary ? 'iVBO' : `${path} at ${at}`,
          encoding: binary ? 'base64' : 'utf8',
        };
      },
    },
  });
  return recordingOf(summaryWith());
};

describe('a recording of a session', () => {
  it('contains each version of the changed files, from the first commit on if it has no parent', async () => {
    const changed = [{ path: 'a.js' }, { path: 'logo.png' }];
    const recording = await record(commit(start, null, []), commit(edit, start, changed));
    expect(recording.files).toEqual({
      'a.js': [
        { seq: 0, text: 0 },
        { seq: 2, text: 1 },
      ],
      'logo.png': [
        { seq: 0, text: null },
        { seq: 2, text: null },
      ],
    });
    expect(recording.texts).toEqual([`a.js at ${start}`, `a.js at ${edit}`]);
  });

  it('contains files with the names of what every object has', async () => {
    const paths = ['a.js', 'constructor', 'toString', '__proto__'];
    const files = paths.map((path) => ({ path }));
    const recording = await record(commit(start, null, []), commit(edit, start, files));
    expect(Object.keys(recording.files)).toEqual(paths);
    for (const path of paths) {
      const shared = JSON.parse(JSON.stringify(recording)) as typeof recording;
      const texts = shared.files[path]?.map(({ text }) => shared.texts[text ?? -1]);
      expect(texts).toEqual([`${path} at ${start}`, `${path} at ${edit}`]);
    }
  });

  it('does not contain the user’s git identity', async () => {
    const gitIdentity = { name: 'Ada', email: 'ada@example.com' };
    const args = sessionSettings.parse({ task: 'Fix', model: 'scripted:a', gitIdentity });
    const recording = await record(newEvent('user', 'start', { args, message: 'Fix' }));
    expect(recording.events.at(-1)).toMatchObject({ action: 'start', args: { task: 'Fix' } });
    expect(JSON.stringify(recording)).not.toContain('ada@example.com');
  });

  it('contains what tests printed that were run again', async () => {
    const [output, tree] = ['c'.repeat(64), 't'];
    const run = { on: 'base', tree, exitCode: 1, seconds: 1, output, isReasonPrinted: false };
    const runs = [
      { ...run, problem: null },
      { ...run, output: null, problem: null },
    ];
    const claim = { claim: 'check', verdict: 'refuted', why: '', command: 'npm test', runs };
    const push = { url: 'https://git.example.com/a/b', branch: 'x', base: 'main', commit: 'c1' };
    const reruns = { image: { name: 'i', id: 'x' }, claims: [claim] };
    const args = { ...push, pullRequest: null, reruns } as never;
    const recording = await record(newEvent('user', 'publish', { args, message: 'Pushed' }));
    expect(recording.blobs).toEqual({ [output]: btoa('output cc') });
  });

  it('leaves out files that can no longer be read as they were', async () => {
    const [first, changed] = [commit(start, null, []), commit(edit, start, [{ path: 'gone.js' }])];
    expect((await record(first, changed)).files).toEqual({});
  });

  it('contains them from the first commit’s parent if it has one', async () => {
    const recording = await record(commit(edit, start, [{ path: 'a.js' }]));
    expect(recording.texts[0]).toBe(`a.js at ${start}`);
  });
});

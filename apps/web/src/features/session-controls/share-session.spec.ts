import { newEvent, sessionSettings } from '@belay/protocol';
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
      events: ({ query }) => log.filter(({ seq }) => seq > Number(query.after)),
      call: ({ params, body }) => {
        if (params.name !== 'workspace.show') return { diff: '', truncated: false, files: [] };
        const { path, commit: at } = body as { path: string; commit: string };
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
  it('contains the changed files as of the first commit if it has no parent', async () => {
    const changed = [{ path: 'a.js' }, { path: 'logo.png' }];
    const recording = await record(commit(start, null, []), commit(edit, start, changed));
    expect(recording.bases).toEqual({ 'a.js': `a.js at ${start}`, 'logo.png': null });
  });

  it('does not contain the user’s git identity', async () => {
    const gitIdentity = { name: 'Ada', email: 'ada@example.com' };
    const args = sessionSettings.parse({ task: 'Fix', model: 'scripted:a', gitIdentity });
    const recording = await record(newEvent('user', 'start', { args, message: 'Fix' }));
    expect(recording.events.at(-1)).toMatchObject({ action: 'start', args: { task: 'Fix' } });
    expect(JSON.stringify(recording)).not.toContain('ada@example.com');
  });

  it('contains them as of the first commit’s parent if it has one', async () => {
    const recording = await record(commit(edit, start, [{ path: 'a.js' }]));
    expect(recording.bases).toEqual({ 'a.js': `a.js at ${start}` });
  });
});

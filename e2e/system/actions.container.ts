import { isEvent } from '@belay/protocol';
import { describeSystem, script, start } from '@belay/testkit';
import { ActionBench, dotPng } from './action-bench.js';
import { hostile } from './hostile-action.js';

const secret = 'sk-only-for-keeper';

/** A well-behaved action: prints its input and writes files. */
const keeper = `#!/bin/sh
echo "args: $*"
echo "input: $(cat)"
[ "$KEY" = ${secret} ] && echo "knows its secret"
[ -n "$KEY" ] && echo "said: $KEY"
echo ${dotPng} | base64 -d > /output/dot.png
echo made > /workspace/made.txt 2>/dev/null
exit 0
`;

// actions.long.container.ts has those that stay warm, run in the background or go to their limits.
describeSystem('actions', (server) => {
  const bench = new ActionBench(server);
  beforeAll(async () => {
    bench.write('keeper', keeper, { secrets: ['KEY'], workspace: 'write' });
    bench.write('alone', keeper, { secrets: ['KEY'] });
    bench.write('hostile', hostile);
    await bench.install(secret, 'keeper', 'alone');
  });
  afterAll(() => bench.dispose());

  it('run over REST alone with arguments, input, secret and files, and leave nothing behind', async () => {
    const output = await bench.direct('alone', { args: ['a b'], key: 'v' });
    expect(output).toMatchObject({
      text: `args: a b key=v\ninput: {"args":["a b"],"key":"v"}\nknows its secret\nsaid: …\n`,
      exitCode: 0,
      files: [{ name: 'dot.png', type: 'image/png' }],
    });
    const [blob = ''] = output.images;
    const picture = await fetch(new URL(`/api/actions/alone/blobs/${blob}`, server.url), {
      headers: { authorization: `Bearer ${server.token}` },
    });
    expect(Buffer.from(await picture.arrayBuffer()).toString('base64')).toBe(dotPng);
    await bench.nothingIsLeft();
  });

  it('are operations of a session: the model calls them once they are approved, and so does the user', async () => {
    const call = { operation: 'action.keeper', input: { args: ['x'] } };
    const model = script(server.data, [
      { calls: [call] },
      {
        expect: 'args: x.*knows its secret',
        calls: [{ operation: 'files.read', input: { path: 'made.txt' } }],
      },
      { expect: 'made', finish: 'done' },
    ]);
    const session = await start(server, {
      task: 'Use it',
      model,
      approvals: 'ask',
      actions: ['keeper'],
    });
    const asked = await session.event((event) => isEvent(event, 'approval'));
    expect(asked.args).toMatchObject({ operation: 'action.keeper', risk: 'execute' });
    await server.client.sessions.answer(session.id, String(asked.args['id']), {
      verdict: 'approved',
    });
    await session.finished();
    const results = session.events.filter((event) => isEvent(event, 'result'));
    expect(results[0]?.args).toMatchObject({ ok: true, images: [expect.any(String)] });
    const commits = session.events.filter((event) => isEvent(event, 'commit'));
    expect(commits.some(({ args }) => args.files.some(({ path }) => path === 'made.txt'))).toBe(
      true,
    );

    const path = `/api/sessions/${session.id}/operations`;
    expect(await bench.api('POST', `${path}/action_keeper`, { args: ['me'] })).toMatchObject({
      exitCode: 0,
    });
    expect(await bench.api('POST', `${path}/action.alone`, {})).toMatchObject({
      code: 'not_found',
    });
    session.close();
    await bench.nothingIsLeft();
  });

  it('that are hostile harm nothing and learn nothing', async () => {
    // Control: the action runs.
    expect((await bench.direct('hostile', { args: ['hello'] })).text).toBe('hello\n');
    const port = new URL(server.url).port;
    const [disk, inside, dial] = await Promise.all([
      bench.direct('hostile', { args: ['disk'] }),
      bench.direct('hostile', { args: ['inside'] }),
      bench.direct('hostile', { args: ['dial', port] }),
    ]);
    expect(disk).toMatchObject({ exitCode: 7, errors: expect.stringContaining('No space left') });
    expect(dial).toMatchObject({ exitCode: 9, text: '' });
    expect(inside).toMatchObject({
      exitCode: 8,
      errors: expect.stringMatching(/Read-only|denied/),
    });
    const seen = JSON.stringify(inside);
    expect(seen).not.toContain(secret);
    expect(seen).not.toContain(server.token);
    expect(inside.text).toMatch(/uid=1000/);
    expect(inside.files.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['_hidden', 'f0', 'agnp_.exe']),
    );
    expect(inside.files.length).toBeLessThanOrEqual(20);
    expect(JSON.stringify(inside.files)).not.toMatch(/link|pipe|sub/);

    // Control: everything still works, and nothing is left behind.
    expect((await bench.direct('hostile', { args: ['hello'] })).text).toBe('hello\n');
    await bench.nothingIsLeft();
  });
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isEvent } from '@belay/protocol';
import { blocksOf, containerOf, Followed, repositoryRoot, run, start } from '@belay/testkit';
import { step } from '../prepare/steps.mjs';
import type { ComposedBelay } from './composed-belay.ts';

/** Follows docs/docker.md, then kills and replaces the server while sessions work. */
export async function testComposed(belay: ComposedBelay): Promise<void> {
  const page = readFileSync(join(repositoryRoot, 'docs/docker.md'), 'utf8');
  const blocks = blocksOf(page).filter(({ language }) => language === 'sh');
  const [up, session, backup, restore, ...more] = blocks.map(({ text }) => text);
  assert.ok(up && session && backup && restore && more.length === 0);

  await step('docs/docker.md: start, a session', async () => {
    assert.match(await belay.shell(up), /http:\/\/127\.0\.0\.1:\d+\/\?code=/);
    assert.match(await belay.shell(session), /■ finished/);
    await belay.connect();
  });
  await step('the rights of server and sandbox', () => testRights(belay));
  await step('kill -9 of the server’s container', () =>
    testInterrupted(belay, 'killed', async () => {
      await belay.compose('kill', 'server');
      await belay.up();
    }),
  );
  await step('an update', () =>
    testInterrupted(belay, 'updated', () => belay.up('--force-recreate')),
  );
  await step('docs/docker.md: backup, restore', async () => {
    const before = await sessionsOf(belay);
    assert.equal(before.length, 3);
    await belay.shell(backup);
    await belay.remove();
    await belay.shell(restore);
    await belay.connect();
    assert.deepEqual(await sessionsOf(belay), before);
  });
}

/**
 * A session that works while `interrupt` replaces the server goes on: each of its events and each line of its terminal
 * is there once, in order.
 */
async function testInterrupted(
  belay: ComposedBelay,
  name: string,
  interrupt: () => Promise<void>,
): Promise<void> {
  const model = await belay.script(name, [
    { calls: [run('for i in $(seq 1 40); do echo step $i; sleep 0.25; done')] },
    { calls: [run('echo after')] },
    { finish: 'done' },
  ]);
  const session = await start(belay, { task: `Be ${name}`, model });
  await session.printed('step 4');
  const { Id: container } = await (await containerOf(session.id)).inspect();
  session.close();
  await interrupt();
  const again = new Followed(belay, session.id);
  await again.finished();
  await again.printed('after');
  again.close();
  assert.deepEqual(
    again.events.map(({ seq }) => seq),
    again.events.map((_, index) => index + 1),
  );
  assert.deepEqual(again.events.slice(0, session.events.length), session.events);
  assert.deepEqual(
    again.terminal().match(/^step \d+/gm),
    Array.from({ length: 40 }, (_, index) => `step ${index + 1}`),
  );
  assert.equal(again.events.filter((event) => isEvent(event, 'result')).length, 3);
  assert.equal((await (await containerOf(session.id)).inspect()).Id, container);
}

/** The server does not run as root, and gives a sandbox its own socket and nothing else of its own. */
async function testRights(belay: ComposedBelay): Promise<void> {
  const list =
    'for one in /proc/[0-9]*; do echo $(grep ^Uid: $one/status) $(tr "\\0" " " < $one/cmdline); done';
  const processes = await belay.compose('exec', '-T', 'server', 'sh', '-c', list);
  const owners = [
    ...processes.matchAll(/^Uid: (\d+)(?: \d+){3} \S*node .*(?:start\.mjs|main\.cjs)/gm),
  ].map(([, owner]) => owner);
  assert.deepEqual(owners, ['10001', '10001'], processes);
  const [first] = await belay.client.sessions.list();
  const { Mounts } = await (await containerOf(first?.id ?? '')).inspect();
  assert.deepEqual(Mounts.map(({ Destination }) => Destination).sort(), [
    '/etc/hosts',
    '/opt/belay',
    '/run/belay',
    '/var/lib/belay',
    '/workspace',
  ]);
}

const sessionsOf = async ({ client }: ComposedBelay) =>
  (await client.sessions.list()).map(({ id, state, lastSeq }) => ({ id, state, lastSeq }));

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { actionOutput, isEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { describeSystem, docker, idle, script, start } from '@belay/testkit';
import { ActionBench, dotPng } from './action-bench.js';
import { hostile } from './hostile-action.js';

const secret = 'sk-only-for-keeper';

/**
 * Counts its calls in one container, looks for traces of the previous call, and leaves traces of
 * its own.
 */
const chatty = `#!/bin/sh
echo $$ >> /tmp/calls
echo "call $(wc -l < /tmp/calls) knows $(echo $KEY | wc -c)"
echo "files $(ls -A /output | wc -l) sleepers $(ps | grep -c '[s]leep 321')"
cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep ^KEY= | sort -u | wc -l
sleep 321 &
echo left > "/output/$1"
[ "$1" = fail ] && exit 3
# Long enough that another call begins meanwhile.
[ "$2" = slowly ] && sleep 3
exit 0
`;

const later = `#!/bin/sh
sleep $1
echo ${dotPng} | base64 -d > /output/dot.png
echo "rendered after $1"
`;

// Concurrent runs of these tests on this machine use other names.
const withVolume = `belay-test-volume:actions-${process.pid}`;

describeSystem(
  'actions, warm and at their limits',
  (server) => {
    const bench = new ActionBench(server);
    beforeAll(async () => {
      bench.write('chatty', chatty, { secrets: ['KEY'], warm_seconds: 600 });
      bench.write('brief', '#!/bin/sh\necho brief\n', { warm_seconds: 1 });
      bench.write('hostile', hostile);
      bench.write('later', later, { timeout_seconds: 600 }, { asynchronous: true });
      const counts = '#!/bin/sh\necho "$PWD: $(ls -A | wc -l)"; echo made > made.txt\n';
      bench.write('counts', counts, { workspace: 'write' });
      bench.write('impatient', hostile, { timeout_seconds: 10 });
      // An image whose volume the engine would create on its disk, and a service that writes to its
      // own file system.
      const plain = await docker.createContainer({ Image: process.env['BELAY_TEST_BUSYBOX'] });
      const [repo, tag] = withVolume.split(':');
      await plain.commit({ repo, tag, changes: 'VOLUME /data' });
      await plain.remove();
      const hoard = '#!/bin/sh\ndd if=/dev/zero of=/data/a bs=1M count=200; exit 7\n';
      bench.write('hoarder', hoard, {}, { base_image: withVolume });
      const command = ['/bin/sh', '-c', 'dd if=/dev/zero of=/fill bs=1M count=200; sleep 60'];
      const services = { hog: { image: process.env['BELAY_TEST_BUSYBOX'], command, port: 9 } };
      bench.write('served', '#!/bin/sh\necho served\n', {}, { services });
      await bench.install(secret, 'chatty');
    });
    afterAll(async () => {
      bench.dispose();
      await docker.getImage(withVolume).remove({ force: true });
    });

    it('that stay warm keep a container for one session, and only /tmp between calls', async () => {
      const [one, other] = await Promise.all(
        [0, 1].map(() => idle(server, { approvals: 'auto', actions: ['chatty', 'brief'] })),
      );
      const call = async (session: string, ...args: string[]) => {
        const path = `/api/sessions/${session}/operations/action.chatty`;
        return actionOutput.parse(await bench.api('POST', path, { args }));
      };
      const said = (calls: number, length: number) =>
        `call ${calls} knows ${length}\nfiles 0 sleepers 0\n1\n`;
      const first = await call(one!.id, 'a');
      expect(first).toMatchObject({ text: said(1, secret.length + 1), files: [{ name: 'a' }] });
      const [kept] = await bench.left();
      // The new secret is available, and the previous call’s files and processes are gone.
      await bench.api('PUT', '/api/actions/chatty/secrets/KEY', { value: 'sk-another' });
      const second = await call(one!.id, 'b');
      expect(second).toMatchObject({
        text: said(2, 'sk-another'.length + 1),
        files: [{ name: 'b' }],
      });
      expect(await bench.left()).toEqual([kept]);

      // Another session gets its own container; a call without a session gets one that is not kept.
      expect((await call(other!.id, 'c')).text).toBe(said(1, 'sk-another'.length + 1));
      expect((await bench.direct('chatty', { args: ['d'] })).text).toContain('call 1 ');
      await until('the call to go', async () => (await bench.left()).length === 2);
      expect(await bench.left()).toContainEqual(kept);

      // After a failure the container is not kept; the next call gets a new one.
      expect(await call(one!.id, 'fail')).toMatchObject({ exitCode: 3 });
      expect((await call(one!.id, 'e')).text).toContain('call 1 ');
      // Concurrent calls do not share a container.
      const both = await Promise.all(['f', 'g'].map((name) => call(one!.id, name, 'slowly')));
      const counts = new Set(both.map(({ text }) => /^call \d/.exec(text)?.[0]));
      expect(counts).toEqual(new Set(['call 1', 'call 2']));

      await server.client.sessions.stop(one!.id);
      await until(
        'its container to go with the session',
        async () => (await bench.left()).length === 1,
      );
      await bench.api('POST', `/api/sessions/${other!.id}/operations/action.brief`, {});
      await until('the brief one to go by itself', async () => (await bench.left()).length === 1);
      await server.end('SIGKILL');
      await server.start();
      await until('that of the killed server to go', async () => (await bench.left()).length === 0);
      one!.close();
      other!.close();
    });

    it('have an empty workspace of their own without a session, and leave none behind', async () => {
      for (let calls = 0; calls < 2; calls += 1)
        expect(await bench.direct('counts', {})).toMatchObject({
          text: '/workspace: 0\n',
          exitCode: 0,
          errors: '',
        });
      await bench.nothingIsLeft();
    });

    it('run in the background: the model waits and is woken, also when the server was killed', async () => {
      const call = (seconds: number) => ({
        operation: 'action.later',
        input: { args: [String(seconds)] },
      });
      const asked = (seconds: number) => {
        const model = script(server.data, [
          { calls: [call(seconds)] },
          { expect: '"background":', say: 'I wait.' },
          { finish: 'done' },
        ]);
        return start(server, { task: 'Use it', model, approvals: 'auto', actions: ['later'] });
      };
      const [first, second] = await Promise.all([asked(1), asked(500)]);
      await first.finished();
      const backgroundResult = await first.event((event) => isEvent(event, 'background-result'));
      expect(backgroundResult.args).toMatchObject({
        ok: true,
        output: { text: 'rendered after 1\n', files: [{ name: 'dot.png', type: 'image/png' }] },
        images: [expect.any(String)],
      });
      const finish = first.events.find(({ action }) => action === 'finish');
      expect(finish?.seq).toBeGreaterThan(backgroundResult.seq);

      await second.event((event) => isEvent(event, 'say') && event.args.text === 'I wait.');
      await server.end('SIGKILL');
      await server.start();
      second.follow();
      await second.finished();
      const lost = await second.event((event) => isEvent(event, 'background-result'));
      expect(lost.args).toMatchObject({
        ok: false,
        output: { message: expect.stringContaining('The server was restarted during this call') },
      });
      await until('its container to go', async () => (await bench.left()).length === 0);
      first.close();
      second.close();
    });

    it('that are hostile end at their limits of memory, processes, output, time and disk', async () => {
      // Control: the action runs.
      expect((await bench.direct('hostile', { args: ['hello'] })).text).toBe('hello\n');
      const hoarded = await bench.direct('hoarder', {});
      expect(hoarded).toMatchObject({
        exitCode: 7,
        errors: expect.stringMatching(/No space left/),
      });
      await expect(bench.direct('served', {})).rejects.toThrow(
        /A service of the action served wrote more than 64 MiB/,
      );

      // The limits also apply to a set-up, which then fails.
      const setup =
        '#!/bin/sh\nyes noise | head -n 99999\ndd if=/dev/zero of=/fill bs=1M count=200; sleep 60\n';
      bench.write('swelling', '#!/bin/sh\n', {});
      writeFileSync(join(bench.folder, 'swelling', 'setup'), setup, { mode: 0o755 });
      const failed = await bench.installed('swelling');
      expect(failed).toMatchObject({
        state: 'failed',
        actions: [{ error: expect.stringContaining('The setup wrote more than 64 MiB.') }],
      });
      expect((failed['lines'] as unknown[]).length).toBeLessThan(6_000);

      const ends = await Promise.allSettled(
        [
          ['impatient', 'forks'],
          ['hostile', 'endless'],
          ['hostile', 'memory'],
        ].map(([name = '', what]) => bench.direct(name, { args: [what] })),
      );
      const outcomes = ends.map((end) =>
        JSON.stringify(end.status === 'rejected' ? String(end.reason) : end.value),
      );
      expect(outcomes[0]).toMatch(/took more than 10 s|fork/);
      expect(outcomes[1]).toMatch(/printed more than 16 MiB/);
      expect(outcomes[2]).toMatch(/ran out of memory|137/);
      // Control: everything still works, and nothing is left behind.
      expect((await bench.direct('hostile', { args: ['hello'] })).text).toBe('hello\n');
      await bench.nothingIsLeft();
    });
  },
  { BELAY_ACTION_IMAGE_MB: '64' },
);

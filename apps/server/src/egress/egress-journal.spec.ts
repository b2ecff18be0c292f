import { isEvent } from '@belay/protocol';
import { TestLogs } from '../testing/logs.js';
import { EgressJournal } from './egress-journal.js';

/** Only a flush writes, however slow the machine is. */
const longMs = 2 ** 31 - 1;

it('writes connections to one host with one verdict as one event', async () => {
  const logs = await new TestLogs().open();
  await logs.session('s');
  const journal = new EgressJournal(logs.log, longMs);
  const allowed = {
    session: 's',
    host: 'a.test',
    port: 443,
    verdict: 'allowed',
    reason: null,
  } as const;
  for (let count = 0; count < 20; count += 1) journal.add({ ...allowed, sent: 1, received: 2 });
  journal.add({ ...allowed, port: 80, sent: 0, received: 3 });
  journal.add({ ...allowed, verdict: 'refused', reason: 'No.', sent: 0, received: 0 });
  await journal.flush();
  const events = await logs.log.read('s', { after: 0 });
  expect(events.filter((event) => isEvent(event, 'egress')).map(({ message }) => message)).toEqual([
    'a.test:443 (20 connections): 20 B sent, 40 B received.',
    'a.test:80: 0 B sent, 3 B received.',
    'a.test:443 refused: No.',
  ]);
  await logs.close();
});

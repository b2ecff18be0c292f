// The client of orval (fetch): lists, starts, follows and reads a failure.
import { sessionsCreate, sessionsEvents, sessionsGet, sessionsList } from './client';

const { BELAY_TOKEN, BELAY_MODEL = '' } = process.env;
const options = { headers: { Authorization: `Bearer ${BELAY_TOKEN}` } };

async function drive(): Promise<void> {
  const list = async () => {
    const answer = await sessionsList(undefined, options);
    if (answer.status !== 200) throw new Error('The list was refused.');
    return answer.data.length;
  };
  const before = await list();
  const headers = { ...options.headers, 'Content-Type': 'application/json' };
  const wanted = { task: 'Say hello', model: BELAY_MODEL, approvals: 'auto' } as const;
  const made = await sessionsCreate(wanted, { headers });
  if (made.status !== 201) throw new Error('The session was refused.');
  check((await list()) === before + 1, 'It is not in the list.');
  let last = 0;
  let ended = false;
  for (const deadline = Date.now() + 120_000; !ended && Date.now() < deadline;) {
    const page = await sessionsEvents(made.data.id, { after: last, wait: 20 }, options);
    if (page.status !== 200) throw new Error('The log was refused.');
    for (const event of page.data) {
      check(event.seq === last + 1, 'An event is missing.');
      last = event.seq;
      ended ||= event.action === 'state' && isEnd.test(String(event.args['state']));
    }
  }
  check(ended, 'The session has not ended.');
  const failure = await sessionsGet('none', options);
  check(failure.status === 404 && failure.data.code === 'not_found', 'The failure has no code.');
}

const isEnd = /^(finished|failed|limited|stopped)$/;

function check(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(sentence);
}

void drive();

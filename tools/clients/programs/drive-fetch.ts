// The client of openapi-generator (typescript-fetch): lists, starts, follows and reads a failure.
import { Configuration, ProblemFromJSON, ResponseError, SessionsApi } from './client/index';

const { BELAY_URL, BELAY_TOKEN, BELAY_MODEL } = process.env;

async function drive(): Promise<void> {
  const configuration = new Configuration({ basePath: BELAY_URL, accessToken: BELAY_TOKEN });
  const sessions = new SessionsApi(configuration);
  const before = (await sessions.sessionsList()).length;
  const createSession = { task: 'Say hello', model: BELAY_MODEL, approvals: 'auto' } as const;
  const { id } = await sessions.sessionsCreate({ createSession });
  check((await sessions.sessionsList()).length === before + 1, 'It is not in the list.');
  let last = 0;
  let ended = false;
  for (const deadline = Date.now() + 120_000; !ended && Date.now() < deadline;) {
    for (const event of await sessions.sessionsEvents({ id, after: last, wait: 20 })) {
      check(event.seq === last + 1, 'An event is missing.');
      last = event.seq;
      const { state } = event.args as Record<string, unknown>;
      ended ||= event.action === 'state' && isEnd.test(String(state));
    }
  }
  check(ended, 'The session has not ended.');
  const failure: unknown = await sessions.sessionsGet({ id: 'none' }).catch((error) => error);
  if (!(failure instanceof ResponseError)) throw new Error('There is no such session.');
  const { code } = ProblemFromJSON(await failure.response.json());
  check(code === 'not_found', 'The failure has no code.');
}

const isEnd = /^(finished|failed|limited|stopped)$/;

function check(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(sentence);
}

void drive();

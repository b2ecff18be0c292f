import { isEvent } from '@belay/protocol';
import type { Followed } from '@belay/testkit';

/** What the calls of a session returned, each as JSON. */
export const results = (session: Followed): string[] =>
  session.events
    .filter((event) => isEvent(event, 'result'))
    .map((event) => JSON.stringify(event.args.output));

/** What the model was told of its sandbox. */
export const prompted = (session: Followed): unknown =>
  session.events.find((event) => isEvent(event, 'say'))?.args['sandbox'];

import { isEvent } from '@belay/protocol';
import { type Followed } from '@belay/testkit';

export const results = (session: Followed): string[] =>
  session.events
    .filter((event) => isEvent(event, 'result'))
    .map((event) => JSON.stringify(event.args.output));

export const prompted = (session: Followed) =>
  session.events.find((event) => isEvent(event, 'say'))?.args['sandbox'];

import type { Event, EventArgs } from '@belay/protocol';

/** A logged call with the input that it ran with: the user may have changed it before allowing it. */
export const callThatRan = (
  call: Event | undefined,
  { edited }: EventArgs<'result'>,
): Event | undefined => call && { ...call, args: { ...call.args, ...edited } };

import { callOf, type CallOf, type Event, type OperationName } from '@belay/protocol';

type CardMaker<T> = readonly [name: OperationName, make: (event: Event) => T | undefined];

/** Pairs an operation with what is made of its calls; `make` gets their args as the operation’s schema parses them. */
export function on<N extends OperationName, T>(
  name: N,
  make: (call: CallOf<N>) => T,
): CardMaker<T> {
  return [
    name,
    (event) => {
      const call = callOf(event, name);
      return call && make(call);
    },
  ];
}

/** A registry by operation; undefined for an operation that is not in it, and for args that are not valid. */
export function byOperation<T>(
  ...entries: readonly CardMaker<T>[]
): (event: Event) => T | undefined {
  const makers = new Map<string, CardMaker<T>[1]>(entries);
  return (event) => makers.get(event.action)?.(event);
}

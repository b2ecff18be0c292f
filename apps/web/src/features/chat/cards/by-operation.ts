import { callOf, type CallOf, type Event, type OperationName } from '@belay/protocol';

type CardMaker<T> = readonly [name: OperationName, make: (event: Event) => T | undefined];

/** An entry for `byOperation`; `make` receives calls whose args match the operation’s schema. */
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

/** Dispatches calls to their operation’s entry; undefined if there is none, or for invalid args. */
export function byOperation<T>(
  ...entries: readonly CardMaker<T>[]
): (event: Event) => T | undefined {
  const makers = new Map<string, CardMaker<T>[1]>(entries);
  return (event) => makers.get(event.action)?.(event);
}

import { Injectable } from '@nestjs/common';
import {
  deliveryRow,
  outgoingItem,
  outgoingKind,
  runState,
  type DeliveryRow,
  type OutgoingItem,
  type RunState,
} from '@belay/protocol';

/** What is counted, with its labels: each has few values, and none is a name. */
export interface CountedLabels {
  deliveries: Pick<DeliveryRow, 'transport' | 'state'>;
  runs: { state: RunState };
  outgoing: Pick<OutgoingItem, 'kind' | 'state'>;
}

type Counted = keyof CountedLabels;

/** Counts what comes in, begins and goes out since this server’s start, for its metrics. All series are there from then on. */
@Injectable()
export class AutomationCounts {
  readonly #counts: { readonly [C in Counted]: Map<string, [CountedLabels[C], number]> } = {
    deliveries: zeros(
      transport.options.flatMap((one) =>
        deliveryState.options.map((state) => ({ transport: one, state })),
      ),
    ),
    runs: zeros(runState.options.map((state) => ({ state }))),
    outgoing: zeros(
      outgoingKind.options.flatMap((kind) =>
        outgoingState.options.map((state) => ({ kind, state })),
      ),
    ),
  };

  add<C extends Counted>(what: C, labels: CountedLabels[C], more = 1): void {
    const counts: Map<string, [CountedLabels[C], number]> = this.#counts[what];
    const known = counts.get(keyOf(labels));
    if (known) known[1] += more;
  }

  of(what: Counted): (readonly [labels: CountedLabels[Counted], count: number])[] {
    return [...this.#counts[what].values()];
  }
}

const { transport, state: deliveryState } = deliveryRow.shape;
const { state: outgoingState } = outgoingItem.shape;

const keyOf = (labels: CountedLabels[Counted]): string =>
  ['transport' in labels && labels.transport, 'kind' in labels && labels.kind, labels.state].join(
    ' ',
  );

const zeros = <L extends CountedLabels[Counted]>(all: readonly L[]): Map<string, [L, number]> =>
  new Map(all.map((labels) => [keyOf(labels), [labels, 0]]));

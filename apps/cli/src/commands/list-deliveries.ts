import { ageText, type DeliveryRow } from '@belay/protocol';
import { clientFor, type PrintOptions } from '../connection.js';
import { printList } from '../print-list.js';

/** `belay automations deliveries`: what was learned of, and what became of it. */
export async function listDeliveries(
  name: string,
  { limit, ...options }: PrintOptions & { limit: number },
): Promise<void> {
  printList(await clientFor(options).automations.deliveries(name, { limit }), options, {
    empty: 'Nothing was delivered yet.',
    row: ({ id, at, event, transport, state, why, runs }) => [
      id,
      `${ageText(at)} ago`,
      event === transport ? event : `${event} by ${transport}`,
      stateWords[state],
      why ?? runs.join(', '),
    ],
  });
}

const stateWords: Record<DeliveryRow['state'], string> = {
  received: 'received',
  done: 'taken up',
  duplicate: 'known already',
  ignored: 'ignored',
  refused: 'refused',
};

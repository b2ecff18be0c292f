import { isNetwork } from '@belay/host';
import { z } from 'zod';
import { blankIsUnset, commaSeparated, text } from './variables.js';

export const closedNetworkVariables = {
  BELAY_CLOSED_NETWORKS: z.preprocess(
    blankIsUnset,
    z
      .string()
      .default('')
      .transform((list) => commaSeparated(list))
      .refine(
        (list) => list.every(isNetwork),
        'write addresses and networks, comma-separated, as in 203.0.113.0/24,2001:db8::/32',
      ),
  ),
  // The address of the API server, which Kubernetes sets in pods.
  KUBERNETES_SERVICE_HOST: text,
};

/** Of no use to sandboxes, whatever addresses they have. */
export const closedNetworksOf = ({
  BELAY_CLOSED_NETWORKS: named,
  KUBERNETES_SERVICE_HOST: cluster,
}: z.output<z.ZodObject<typeof closedNetworkVariables>>): string[] =>
  cluster === undefined ? named : [...named, cluster];

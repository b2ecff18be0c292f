/** Beside others that not every machine has. */
export const withoutPolicy =
  'the cluster’s API server, its nodes, other pods,? (and )?its name servers';

/** What pods that no policy confines are said to reach. */
export const reachedWithoutPolicy = new RegExp(`can connect to ${withoutPolicy}`);

import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readSaved } from '../saved-file.js';

const saved = z.array(z.object({ kubeconfig: z.string().optional(), namespace: z.string() }));
type UsedCluster = z.output<typeof saved>[number];
const fileIn = (folder: string): string => join(folder, 'clusters.json');

/** The namespaces in which agents of a joined server had pods: a later join may use another. */
export const usedClusters = (folder: string): UsedCluster[] =>
  readSaved(fileIn(folder), saved) ?? [];

/** Called before anything is created there, so that `belay leave` finds all of it. */
export function rememberCluster(folder: string, { kubeconfig, namespace }: UsedCluster): void {
  const used = { ...(kubeconfig !== undefined && { kubeconfig: resolve(kubeconfig) }), namespace };
  const others = usedClusters(folder).filter((one) => JSON.stringify(one) !== JSON.stringify(used));
  writeFileSync(fileIn(folder), JSON.stringify([...others, used]), { mode: 0o600 });
}

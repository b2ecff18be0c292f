import type { ForgeUser } from '@belay/protocol';
import type { ForgeLevel } from './forge.js';

interface NamedLevel {
  level: ForgeLevel;
  user: ForgeUser | null;
}

/** The level of a user at a host that is asked by name. A name that was given up may be another’s now. */
export async function levelByName(
  { id, name }: ForgeUser,
  {
    permission,
    userById,
  }: {
    permission(name: string): Promise<NamedLevel | undefined>;
    userById(id: string): Promise<ForgeUser | undefined>;
  },
): Promise<ForgeLevel> {
  const known = await permission(name);
  if (known?.user?.id === id) return known.level;
  const now = /^\d+$/.test(id) ? await userById(id) : undefined;
  if (now?.id !== id || now.name === name) return 'none';
  const found = await permission(now.name);
  return found?.user?.id === id ? found.level : 'none';
}

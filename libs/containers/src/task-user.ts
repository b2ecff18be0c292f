import { z } from 'zod';

/** Runs in a container before its task does: see `taskUser`. Makes the working folder, as an engine does. */
export const taskUserScript = `
const { mkdirSync, readFileSync } = require('node:fs');
const [wanted, workdir] = process.argv.slice(1);
mkdirSync(workdir, { recursive: true });
const rows = (file) => {
  try {
    return readFileSync(file, 'utf8').split('\\n').map((line) => line.split(':'));
  } catch {
    return [];
  }
};
const isId = (text) => /^[0-9]+$/.test(text);
const [name, groupName] = wanted.split(':');
const users = rows('/etc/passwd');
const user = users.find((row) => row[0] === name) ?? users.find((row) => row[2] === name);
const groups = rows('/etc/group');
const idOf = (group) => (isId(group) ? group : groups.find((row) => row[0] === group)?.[2]);
const uid = isId(name) ? name : user?.[2];
const gid = groupName === undefined ? (user?.[3] ?? '0') : idOf(groupName);
const others = groupName === undefined && user ? groups.filter((row) => row[3]?.split(',').includes(user[0])) : [];
const root = users.find((row) => row[2] === '0');
const isRootsHome = [undefined, '/', '/root', root?.[5]].includes(process.env.HOME);
process.stdout.write(JSON.stringify({
  uid: uid === undefined ? null : Number(uid),
  gid: gid === undefined ? null : Number(gid),
  groups: others.map((row) => Number(row[2])),
  home: isRootsHome ? (user?.[5] ?? '/') : null,
}));
`;

/** What the script prints: the ids of a user of the image, null for one that it does not have. */
export const taskUser = z.object({
  uid: z.int().nonnegative().nullable(),
  gid: z.int().nonnegative().nullable(),
  groups: z.array(z.int().nonnegative()),
  /** The home folder; null if the image has set another one. */
  home: z.string().nullable(),
});
export type TaskUser = z.output<typeof taskUser>;

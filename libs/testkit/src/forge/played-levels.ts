/** Permissions on a played repository, the lowest first. */
export const playedLevels = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const;
export type PlayedLevel = (typeof playedLevels)[number];

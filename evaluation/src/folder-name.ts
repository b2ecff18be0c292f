/** A folder name for a task's id. */
export const folderName = (id: string): string => id.replace(/[^\w.@+-]+/g, '__').slice(0, 120);

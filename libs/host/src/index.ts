export { reach, readFolder, type FolderEntry, type Reached } from './reach.js';
export { ConnectionFolder, makePrivateFolder } from './connection-folder.js';
export { git, findGit, type GitLimits, type GitOptions } from './git.js';
export { userIdentity } from './user-identity.js';
export { HeldFolders } from './held-folders.js';
export { PrivateRepository } from './private-repository.js';
export { runtimeFolder } from './runtime-folder.js';
export { isSafePath } from './safe-path.js';
export { userIgnoreFile } from './user-ignore-file.js';

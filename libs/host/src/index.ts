export { entryKindOf } from './entry-kind.js';
export { reach, readFolder, type FolderEntry, type Reached } from './reach.js';
export { ConnectionFolder, makePrivateFolder } from './connection-folder.js';
export { git, findGit, type GitLimits, type GitOptions } from './git.js';
export {
  chainAlgorithm,
  chainDigest,
  chainFields,
  chainStart,
  contentDigest,
} from './log-chain.js';
export { userIdentity } from './user-identity.js';
export { HeldFolders } from './held-folders.js';
export { PrivateRepository } from './private-repository.js';
export { isPublicAddress } from './public-address.js';
export { openRegularFile, readRegularFile } from './regular-file.js';
export { isWithin, realFolder, sameEnds } from './real-folder.js';
export { runtimeFolder } from './runtime-folder.js';
export { isSafePath } from './safe-path.js';
export { userIgnoreFile } from './user-ignore-file.js';

/** The variables of this process, which contain the program’s start settings. */
export const ownEnvironment = (): NodeJS.ProcessEnv => process.env;

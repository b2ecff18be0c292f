/** The variables that the program is given, and how it is to be started. */
export const ownEnvironment = (): NodeJS.ProcessEnv => process.env;

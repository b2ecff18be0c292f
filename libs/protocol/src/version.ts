/** The version of Belay, which every part reports. `npm run release` sets it, with those of the packages. */
export const belayVersion = '0.1.0';

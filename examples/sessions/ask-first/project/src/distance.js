/** A distance in metres, for people. */
export function formatDistance(metres) {
  return `${metres} m`;
}

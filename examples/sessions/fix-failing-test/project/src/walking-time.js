const KILOMETRES_PER_HOUR = 5;
const METRES_OF_ASCENT_PER_HOUR = 600;

/** Minutes that a route takes by Naismith's rule, rests not included. */
export function walkingMinutes({ kilometres, ascent }) {
  return (kilometres / KILOMETRES_PER_HOUR + ascent / METRES_OF_ASCENT_PER_HOUR) * 60;
}

/** Minutes as people say them: "45 min", "2 h 5 min". */
export function formatDuration(minutes) {
  const hours = Math.floor(minutes / 60);
  const rest = Math.round(minutes % 60);
  return hours === 0 ? `${rest} min` : `${hours} h ${rest} min`;
}

/** Where pods run unless another namespace is named. */
export const defaultNamespace = 'belay-sandboxes';

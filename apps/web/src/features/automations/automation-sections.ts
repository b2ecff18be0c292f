/** The parts of an automation’s page, as its address names them; the first is shown unless it names another. */
export const automationSections = ['runs', 'definition', 'lanes', 'deliveries'] as const;

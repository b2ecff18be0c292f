# The agent itself changes far more often than what it runs on.
ARG RUNTIME_BASE
FROM ${RUNTIME_BASE}
COPY agent/ /opt/belay/

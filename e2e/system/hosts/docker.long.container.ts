import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./docker.container.js'));

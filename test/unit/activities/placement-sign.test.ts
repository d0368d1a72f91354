import { signOfPlacement, signOfRead } from '../../../src/activities/placement-sign';
import type { PlacementSign } from '../../../src/domain/brake';
import { PartnerError, type PartnerErrorFacts } from '../../../src/partner/errors';

type Kind = ConstructorParameters<typeof PartnerError>[0];

describe('what the end of a request shows of the partner', () => {
  it.each<[string, Kind, PartnerErrorFacts, PlacementSign, PlacementSign]>([
    ['401', 'access', { httpStatus: 401 }, 'ACCESS_REFUSED', 'ACCESS_REFUSED'],
    ['404', 'not-found', { httpStatus: 404 }, 'ACCESS_REFUSED', 'ACCESS_REFUSED'],
    ['405', 'status', { httpStatus: 405 }, 'ACCESS_REFUSED', 'ACCESS_REFUSED'],
    ['402', 'status', { httpStatus: 402 }, 'NO_BALANCE', 'UNREACHABLE'],
    ['422, which is about the order', 'status', { httpStatus: 422 }, 'REFUSED', 'UNREACHABLE'],
    ['400, which may be about all orders', 'status', { httpStatus: 400 }, 'REFUSED', 'UNREACHABLE'],
    ['409, which knows the order', 'status', { httpStatus: 409 }, 'GOOD', 'UNREACHABLE'],
    ['503', 'status', { httpStatus: 503 }, 'UNKNOWN', 'UNREACHABLE'],
    ['success: false', 'refused', {}, 'UNKNOWN', 'UNREACHABLE'],
    ['no connection', 'unreachable', {}, 'UNREACHABLE', 'UNREACHABLE'],
    ['no answer in time', 'timeout', { sent: true }, 'UNKNOWN', 'UNREACHABLE'],
    ['no connection in time', 'timeout', { sent: false }, 'UNREACHABLE', 'UNREACHABLE'],
    ['an answer that can not be read', 'unreadable', { reason: 'shape' }, 'UNKNOWN', 'NOTHING'],
    ['a list that changes under the reading', 'incomplete', {}, 'UNKNOWN', 'NOTHING'],
    ['no permit in time', 'too-late', { permitInMs: 5 }, 'NOTHING', 'NOTHING'],
    ['no intention on record', 'withdrawn', {}, 'NOTHING', 'NOTHING'],
  ])('%s', (_, kind, facts, placed, read) => {
    const error = new PartnerError(kind, 'it failed', facts);
    expect([signOfPlacement(error), signOfRead(error)]).toEqual([placed, read]);
  });
});

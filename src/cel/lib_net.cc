// SPDX-License-Identifier: Apache-2.0
// IP addresses and networks.
#include <algorithm>

#include "cel/library.h"
#include "cel/net.h"

namespace ks::cel {
namespace {

Value MakeIp(Context& context, const Ip& ip) { return Value::Of(context.arena().New<Ip>(ip)); }
Value MakeCidr(Context& context, const Cidr& cidr) {
  return Value::Of(context.arena().New<Cidr>(cidr));
}

Value ParseIp(Context& context, Arguments args) {
  const Result<Ip> ip = Ip::Parse(args[0].view());
  return ip.ok() ? MakeIp(context, *ip) : MakeError(context.arena(), ip.error().message);
}

Value IsIp(Context& /*context*/, Arguments args) {
  return Value::Bool(Ip::Parse(args[0].view()).ok());
}

Value IsCanonical(Context& context, Arguments args) {
  const Result<Ip> ip = Ip::Parse(args[0].view());
  if (!ip.ok()) return MakeError(context.arena(), ip.error().message);
  return Value::Bool(ip->ToString() == args[0].view());
}

Value ParseCidr(Context& context, Arguments args) {
  const Result<Cidr> cidr = Cidr::Parse(args[0].view());
  return cidr.ok() ? MakeCidr(context, *cidr) : MakeError(context.arena(), cidr.error().message);
}

Value IsCidr(Context& /*context*/, Arguments args) {
  return Value::Bool(Cidr::Parse(args[0].view()).ok());
}

Value Family(Context& /*context*/, Arguments args) { return Value::Int(args[0].ip->v4 ? 4 : 6); }

bool IsAll(const Ip& ip, uint8_t byte) {
  return std::all_of(ip.bytes.begin() + (ip.v4 ? 12 : 0), ip.bytes.end(),
                     [&](uint8_t each) { return each == byte; });
}
bool Unspecified(const Ip& ip) { return IsAll(ip, 0); }
bool Loopback(const Ip& ip) {
  return ip.v4 ? ip.bytes[12] == 127
               : ip == Ip{.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
}
bool Multicast(const Ip& ip) { return ip.v4 ? (ip.bytes[12] & 0xF0) == 0xE0 : ip.bytes[0] == 0xFF; }
bool LinkLocalMulticast(const Ip& ip) {
  if (ip.v4) return ip.bytes[12] == 224 && ip.bytes[13] == 0 && ip.bytes[14] == 0;
  return ip.bytes[0] == 0xFF && (ip.bytes[1] & 0x0F) == 2;
}
bool LinkLocalUnicast(const Ip& ip) {
  if (ip.v4) return ip.bytes[12] == 169 && ip.bytes[13] == 254;
  return ip.bytes[0] == 0xFE && (ip.bytes[1] & 0xC0) == 0x80;
}
bool GlobalUnicast(const Ip& ip) {
  const bool broadcast = ip.v4 && IsAll(ip, 0xFF);
  return !broadcast && !Unspecified(ip) && !Loopback(ip) && !Multicast(ip) && !LinkLocalUnicast(ip);
}

template <bool (*kTest)(const Ip&)>
Value Test(Context& /*context*/, Arguments args) {
  return Value::Bool(kTest(*args[0].ip));
}

Value ContainsIp(Context& /*context*/, Arguments args) {
  if (args[1].is(Kind::kIp)) return Value::Bool(args[0].cidr->Contains(*args[1].ip));
  const Result<Ip> ip = Ip::Parse(args[1].view());
  return ip.ok() ? Value::Bool(args[0].cidr->Contains(*ip)) : NoSuchOverload();
}

Value ContainsCidr(Context& context, Arguments args) {
  if (args[1].is(Kind::kCidr)) return Value::Bool(args[0].cidr->Contains(*args[1].cidr));
  const Result<Cidr> cidr = Cidr::Parse(args[1].view());
  return cidr.ok() ? Value::Bool(args[0].cidr->Contains(*cidr))
                   : MakeError(context.arena(), cidr.error().message);
}

Value IpOf(Context& context, Arguments args) { return MakeIp(context, args[0].cidr->ip); }
Value Masked(Context& context, Arguments args) { return MakeCidr(context, args[0].cidr->Masked()); }
Value PrefixLength(Context& /*context*/, Arguments args) {
  return Value::Int(args[0].cidr->prefix);
}

uint64_t CostOfCanonical(Arguments args, const Value& /*result*/) {
  return (OwnSizeOf(args[0]) + 4) / 5;  // read and written: a tenth each
}

uint64_t CostOfContainsIp(Arguments args, const Value& /*result*/) {
  return (OwnSizeOf(args[0]) + 4) / 5;
}
uint64_t CostOfContainsCidr(Arguments args, const Value& result) {
  return 1 + CostOfContainsIp(args, result) + Tenth(OwnSizeOf(args[0]));
}
// The text is read before; nobody reckons with that if it might be something else.
template <CostOf kCost>
uint64_t CostWithText(Arguments args, const Value& result) {
  return kCost(args, result) + Tenth(SizeOf(args[1]));
}

constexpr Binding kNetTable[] = {
    {OverloadId::kIp, ParseIp, TenthOfFirst, true},
    {OverloadId::kIsIp, IsIp, TenthOfFirst, true},
    {OverloadId::kIpIsCanonical, IsCanonical, CostOfCanonical, true},
    {OverloadId::kIpFamily, Family},
    {OverloadId::kIpIsUnspecified, Test<Unspecified>},
    {OverloadId::kIpIsLoopback, Test<Loopback>},
    {OverloadId::kIpIsLinkLocalMulticast, Test<LinkLocalMulticast>},
    {OverloadId::kIpIsLinkLocalUnicast, Test<LinkLocalUnicast>},
    {OverloadId::kIpIsGlobalUnicast, Test<GlobalUnicast>},
    {OverloadId::kCidr, ParseCidr, TenthOfFirst, true},
    {OverloadId::kIsCidr, IsCidr, TenthOfFirst, true},
    {OverloadId::kCidrContainsIpText, ContainsIp, CostWithText<CostOfContainsIp>, true,
     CostOfContainsIp},
    {OverloadId::kCidrContainsIp, ContainsIp, CostOfContainsIp, true},
    {OverloadId::kCidrContainsCidrText, ContainsCidr, CostWithText<CostOfContainsCidr>, true,
     CostOfContainsCidr},
    {OverloadId::kCidrContainsCidr, ContainsCidr, CostOfContainsCidr, true},
    {OverloadId::kCidrIp, IpOf},
    {OverloadId::kCidrMasked, Masked},
    {OverloadId::kCidrPrefixLength, PrefixLength},
};

}  // namespace

std::span<const Binding> NetBindings() { return kNetTable; }

}  // namespace ks::cel

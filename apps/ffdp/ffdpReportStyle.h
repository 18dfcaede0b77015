/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef ffdpReportStyle_h
#define ffdpReportStyle_h

/** How the report looks, by day and by night and on paper. */
constexpr const char * ReportStyle = R"css(
:root { color-scheme: light dark; --ground: #ffffff; --panel: #f4f5f7; --ink: #1c2330; --soft: #667085; --rule: #dfe3e8;
  --accent: #2f6fde; }
@media (prefers-color-scheme: dark) { :root { --ground: #12151b; --panel: #1b2029; --ink: #e6e9ef; --soft: #98a2b3;
  --rule: #2c333f; --accent: #6aa3ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI",
  Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 36px 24px 48px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 20px; margin: 44px 0 10px; padding-top: 18px; border-top: 1px solid var(--rule); }
h3 { font-size: 15px; margin: 22px 0 8px; }
small, .sub, figcaption, footer, .legend p { color: var(--soft); font-weight: normal; }
.sub { margin: 6px 0 20px; overflow-wrap: anywhere; }
.cards { display: flex; flex-wrap: wrap; gap: 12px; }
.card { background: var(--panel); border-radius: 8px; padding: 12px 18px; min-width: 132px; }
.card b { display: block; font-size: 20px; line-height: 1.3; font-variant-numeric: tabular-nums; }
.card span { color: var(--soft); font-size: 13px; }
.grid { display: grid; gap: 12px; align-items: start; }
.columns2 { grid-template-columns: repeat(2, 1fr); }
.columns3 { grid-template-columns: repeat(3, 1fr); }
.columns4 { grid-template-columns: repeat(4, 1fr); }
@media (max-width: 720px) { .grid { grid-template-columns: repeat(2, 1fr); } }
figure { margin: 0; min-width: 0; break-inside: avoid; }
figcaption { font-size: 13px; margin-top: 4px; }
.slice { position: relative; background: #000; border-radius: 4px; overflow: hidden; }
.slice img, .slice .lines { position: absolute; inset: 0; width: 100%; height: 100%; display: block; }
.slice span { position: absolute; color: #fff; font: 600 12px/1 system-ui, "DejaVu Sans", sans-serif; opacity: 0.85;
  text-shadow: 0 0 3px #000, 0 0 2px #000; }
.slice .left { left: 6px; top: 50%; transform: translateY(-50%); }
.slice .right { right: 6px; top: 50%; transform: translateY(-50%); }
.slice .top { top: 6px; left: 50%; transform: translateX(-50%); }
.slice .bottom { bottom: 6px; left: 50%; transform: translateX(-50%); }
.lines path { fill: none; stroke: #ffc94d; stroke-width: 0.9; vector-effect: non-scaling-stroke; opacity: 0.9; }
.legend { padding: 0 14px 0 0; font-size: 14px; align-self: center; }
.legend p { margin: 6px 0 0; font-size: 13px; }
.fixed { border-bottom: 3px solid #2fbf4f; }
.moving { border-bottom: 3px solid #d63ad6; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(460px, 100%), 1fr)); gap: 18px; }
.charts figure { background: var(--panel); border-radius: 8px; padding: 12px; max-width: 640px; }
.grid + .charts { margin-top: 18px; }
.chart { width: 100%; height: auto; display: block; }
.chart text { fill: var(--soft); font: 11px system-ui, "DejaVu Sans", sans-serif; }
.chart .rule { stroke: var(--rule); }
.chart .divide { stroke: var(--soft); stroke-dasharray: 3 3; opacity: 0.7; }
.chart .curve { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
.chart .bin { fill: var(--accent); opacity: 0.85; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; }
.bar { width: 22%; }
.bar i { display: block; height: 9px; min-width: 1px; border-radius: 2px; background: var(--accent); }
pre { background: var(--panel); border-radius: 8px; padding: 12px 14px; overflow-x: auto; font-size: 13px; }
.command { white-space: pre-wrap; overflow-wrap: anywhere; }
footer { margin-top: 32px; font-size: 13px; }
)css";

#endif

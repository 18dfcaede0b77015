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
#include "ffdpSpacingOptions.h"

#include "ffdpGivenSpacing.h"
#include "ffdpRegisterInputs.h"

#include <iostream>

namespace
{

std::vector<std::string>
ListImages(const RegisterOptions & options, bool fixed, bool moving)
{
  const MaskNames          masks = FindMasks(options);
  std::vector<std::string> files;
  const auto               add = [&](bool wanted, const std::string & file) {
    if (wanted && !file.empty())
    {
      files.push_back(file);
    }
  };
  add(fixed, masks.fixed);
  add(moving, masks.moving);
  for (const ImageNames & pair : PlanStages(options).pairs)
  {
    add(fixed, pair.fixed);
    add(moving, pair.moving);
  }
  return files;
}

} // namespace

CLI::Option *
AddSpacingOption(CLI::App &                                        command,
                 const std::string &                               name,
                 const std::string &                               whose,
                 const std::function<std::vector<std::string>()> & files)
{
  return command
    .add_option_function<std::string>(
      name,
      [name, files](const std::string & text) { GiveSpacing(ParseSpacing(name, text), files); },
      "Size of the voxels of " + whose + ", in mm or with a unit, as in 0.65x0.65x2um; in place of what the file says")
    ->type_name("TEXT");
}

void
AddRegistrationSpacings(CLI::App & command, const std::shared_ptr<RegisterOptions> & options)
{
  auto * both = AddSpacingOption(
    command, "--spacing", "all images and masks", [options] { return ListImages(*options, true, true); });
  auto * fixed = AddSpacingOption(
    command, "--fixed-spacing", "fixed images and their mask", [options] { return ListImages(*options, true, false); });
  auto * moving = AddSpacingOption(command, "--moving-spacing", "moving images and their mask", [options] {
    return ListImages(*options, false, true);
  });
  both->excludes(fixed);
  both->excludes(moving);
}

void
PrintSpacingNotes(const CLI::App & program)
{
  for (const CLI::App * command : program.get_subcommands())
  {
    const CLI::Option * quiet = command->get_option_no_throw("--quiet");
    if (quiet && quiet->count() > 0)
    {
      return;
    }
  }
  for (const std::string & note : TakeSpacingNotes())
  {
    std::cerr << "ffdp: note: " << note << "\n";
  }
}
